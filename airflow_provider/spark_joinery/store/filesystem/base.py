"""The interface between the store and a file system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# File systems in which a file appears as a whole when it is closed. A rename there is a copy and a delete.
OBJECT_STORES = frozenset({"s3", "s3a", "s3n", "gs", "oss", "cosn", "obs"})

# Maximum bytes of a description. It takes twenty times as many in a reader's memory, and 16 MiB list some 70,000 files
# of a source. The jar has the same limit (`StoreLayout`); tests/golden/store_limits.json keeps both in step.
LARGEST = 16 << 20


class TooLargeError(OSError):
    """A file has more bytes than its reader accepts."""


@dataclass(frozen=True)
class FileStatus:
    """One file or folder.

    Attributes:
        path: Qualified, "scheme:/path" or "scheme://authority/path".
        is_folder: Whether it is a folder.
        length: Bytes of a file.
        modified_ms: Milliseconds since 1970, UTC.
        mode: Permission bits, as in `chmod`.
    """

    path: str
    is_folder: bool
    length: int
    modified_ms: int
    mode: int

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.path.rsplit("/", 1)[-1]

    @property
    def tells_time(self) -> bool:
        """Whether `modified_ms` is the time of the last change. Folders of object stores report now, or 1970."""
        return self.modified_ms > 0 and not (self.is_folder and self.path.partition(":")[0] in OBJECT_STORES)


class FileSystem(ABC):
    """All file systems that one client can reach. The scheme of a path selects one.

    Paths are not URIs: a space is a space, and a path without scheme is qualified first. Every method raises `OSError`
    if the file system refuses or cannot be reached.
    """

    @abstractmethod
    def qualify(self, path: str) -> str:
        """Write a path with its scheme, as Hadoop prints it: "file:/data", "s3a://bucket/data"."""

    @abstractmethod
    def status(self, path: str) -> FileStatus | None:
        """Look at a file or folder; None if there is none."""

    @abstractmethod
    def list(self, folder: str) -> list[FileStatus]:
        """List a folder, sorted by name; empty if there is none, or if it is a file."""

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """Yield all files below a folder, hidden ones left out as Spark does."""
        for status in self.list(folder):
            if _is_hidden(status.name):
                continue
            if status.is_folder:
                yield from self.walk(status.path)
            else:
                yield status

    @abstractmethod
    def make_folder(self, folder: str, mode: int) -> None:
        """Create a folder and its parents with `mode`, regardless of the umask. Existing folders stay as they are."""

    @abstractmethod
    def read(self, path: str, most: int = LARGEST) -> bytes:
        """Read a small file as a whole.

        Args:
            path: The file.
            most: Maximum bytes to read, so that a foreign file does not fill the memory.

        Returns:
            Its content.

        Raises:
            TooLargeError: If there are more.
        """

    @abstractmethod
    def sha256(self, path: str) -> str:
        """Hash a file of any size; 64 hex digits."""

    def replace(self, path: str, content: bytes, temporary: str) -> None:
        """Write a small file so that readers see the old or the new content, never none or a part.

        Args:
            path: The file.
            content: All of it.
            temporary: A file in the same folder to write first, with a name that no other writer uses.
        """
        if self._scheme(path) in OBJECT_STORES:
            self._write(path, content)
            return
        self._write(temporary, content)
        self._rename_over(temporary, path)

    def touch(self, path: str) -> None:
        """Write an empty file, to read the time that the file system gives it. An existing file is emptied."""
        self._write(path, b"")

    def is_link(self, path: str) -> bool:
        """Whether a path is a symbolic link; only local file systems have links."""
        return path.startswith("file:") and Path(path.removeprefix("file:")).is_symlink()

    @abstractmethod
    def copy(self, source: str, target: str) -> None:
        """Copy a file of any size; creates the folders above the target. A file there is replaced, not in one step."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Delete a file, or a folder with all it holds; fine if there is none."""

    @abstractmethod
    def delete_empty(self, folder: str) -> bool:
        """Delete a folder if it is empty, and return whether it was deleted."""

    @abstractmethod
    def _scheme(self, path: str) -> str:
        """Scheme of the file system that a path belongs to."""

    @abstractmethod
    def _write(self, path: str, content: bytes) -> None:
        """Write a file, in place of one that is there."""

    @abstractmethod
    def _rename_over(self, source: str, target: str) -> None:
        """Rename a file. A file that already has the name is replaced in the same step."""


def _is_hidden(name: str) -> bool:
    """Whether Spark ignores files and folders of a name. `_k=1` is not hidden: it is a partition."""
    is_marked = name.startswith("_") and "=" not in name
    return is_marked or name.startswith(".") or name.endswith("._COPYING_")


def local_mode(path: str) -> int | None:
    """Look up the permission bits of a local file.

    Args:
        path: Its path, without a scheme.

    Returns:
        Bits as in `chmod`; None if there is no such file; 0 if they cannot be read.
    """
    try:
        return Path(path).stat().st_mode & 0o7777
    except FileNotFoundError:
        return None
    except OSError:
        return 0


def no_larger(content: bytes, most: int) -> bytes:
    """Return a content, unless it is longer than allowed.

    Args:
        content: The bytes that were read.
        most: Maximum length, in bytes.

    Returns:
        The content.

    Raises:
        TooLargeError: If it has more.
    """
    if len(content) > most:
        raise TooLargeError(f"more than {most:,} bytes")
    return content
