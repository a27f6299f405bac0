"""What the store asks of a file system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Here a file appears as a whole when it is closed, while a rename is a copy and a delete.
OBJECT_STORES = frozenset({"s3", "s3a", "s3n", "gs", "oss", "cosn", "obs"})

# Bytes of a description. It takes twenty times as many in a reader's memory, and 16 MiB list some 70,000 files of a
# source. The jar has the same limit (`StoreLayout`); tests/golden/store_limits.json keeps both in step.
LARGEST = 16 << 20


class TooLargeError(OSError):
    """A file has more bytes than any of its kind."""


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
        """Whether `modified_ms` is when it changed: object stores have no folders, and say now, or 1970."""
        return self.modified_ms > 0 and not (self.is_folder and self.path.partition(":")[0] in OBJECT_STORES)


class FileSystem(ABC):
    """All file systems that one client can reach, told apart by the scheme of a path.

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
        """Create a folder and its parents, all with `mode` whatever the umask; those that exist stay as they are."""

    @abstractmethod
    def read(self, path: str, most: int = LARGEST) -> bytes:
        """Read a small file as a whole.

        Args:
            path: The file.
            most: Bytes that are read at most, so that a file that is not ours does not fill the memory.

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
            temporary: A file beside it to write first, named so that no other writer uses it.
        """
        if self._scheme(path) in OBJECT_STORES:
            self._write(path, content)
            return
        self._write(temporary, content)
        self._rename_over(temporary, path)

    def touch(self, path: str) -> None:
        """Write an empty file, for the time that the file system stamps it with; one that is there is emptied."""
        self._write(path, b"")

    def is_link(self, path: str) -> bool:
        """Whether a path is that of a symbolic link; only local files have them."""
        return path.startswith("file:") and Path(path.removeprefix("file:")).is_symlink()

    @abstractmethod
    def copy(self, source: str, target: str) -> None:
        """Copy a file of any size; makes the folders above the target. A file there is replaced, not in one step."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Delete a file, or a folder with all it holds; fine if there is none."""

    @abstractmethod
    def delete_empty(self, folder: str) -> bool:
        """Delete a folder that holds nothing, and say whether that was so; false if there is none."""

    @abstractmethod
    def _scheme(self, path: str) -> str:
        """Scheme of the file system that a path belongs to."""

    @abstractmethod
    def _write(self, path: str, content: bytes) -> None:
        """Write a file, in place of one that is there."""

    @abstractmethod
    def _rename_over(self, source: str, target: str) -> None:
        """Rename a file; one that has the name already is replaced in the same step."""


def _is_hidden(name: str) -> bool:
    """Whether Spark reads no file or folder of a name: `_k=1` is a partition."""
    is_marked = name.startswith("_") and "=" not in name
    return is_marked or name.startswith(".") or name.endswith("._COPYING_")


def local_mode(path: str) -> int | None:
    """Look up the permission bits of a local file.

    Args:
        path: Its path, without a scheme.

    Returns:
        As in `chmod`; None if there is no such file; 0 if nobody may know.
    """
    try:
        return Path(path).stat().st_mode & 0o7777
    except FileNotFoundError:
        return None
    except OSError:
        return 0


def no_larger(content: bytes, most: int) -> bytes:
    """Pass a content on, unless it is longer than it may be.

    Args:
        content: What was read.
        most: Bytes that it may have.

    Returns:
        The content.

    Raises:
        TooLargeError: If it has more.
    """
    if len(content) > most:
        raise TooLargeError(f"more than {most:,} bytes")
    return content
