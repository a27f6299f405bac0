"""File systems without a JVM: for Spark Connect, and for commands that need not start Spark."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from spark_joinery.errors import JoineryError
from spark_joinery.store.filesystem.base import (
    LARGEST,
    OBJECT_STORES,
    FileStatus,
    FileSystem,
    local_mode,
    no_larger,
)

_PATH = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/]*))?(.*)", re.DOTALL)
# Hadoop's names for what Arrow calls s3
_ARROW_SCHEMES = {"s3a": "s3", "s3n": "s3"}
_CHUNK = 1 << 20


class ArrowFileSystem(FileSystem):
    """`pyarrow.fs`: local files, `s3:` (also as `s3a:`), `gs:`; `abfs:` and `hdfs:` but for publishing versions.

    Settings and credentials are pyarrow's own (environment variables, profiles), not those of Spark. Permission bits
    are those of local files; elsewhere they read as 0700, and are not set.

    Example:
        >>> ArrowFileSystem().qualify("/data//joinery/")
        'file:/data/joinery'
    """

    def __init__(self, opened: Mapping[str, Any] | None = None) -> None:
        """Load pyarrow.

        Args:
            opened: File systems that need settings of their own, from "scheme://authority" to a `pyarrow.fs.FileSystem`
                in which that is the root; pyarrow opens all others as it sees fit.

        Raises:
            JoineryError: If it is not installed.
        """
        try:
            from pyarrow import fs
        except ImportError:
            raise JoineryError(
                "Without Spark's JVM the artifact store is read with pyarrow, which is not installed: "
                "pip install 'pyspark[connect]'."
            ) from None
        self._fs = fs
        self._opened = {_split(place)[:2]: (file_system, "") for place, file_system in (opened or {}).items()}

    def qualify(self, path: str) -> str:
        scheme, authority, rest = _split(path)
        if not rest.startswith("/"):
            rest = f"{Path.cwd()}/{rest}"
        return _join(scheme, authority, posixpath.normpath(f"/{rest.lstrip('/')}"))

    def status(self, path: str) -> FileStatus | None:
        file_system, at = self._at(path)
        with _python_errors():
            return self._status(path, file_system.get_file_info(at))

    def list(self, folder: str) -> list[FileStatus]:
        file_system, at = self._at(folder)
        with _python_errors():
            try:
                infos = file_system.get_file_info(self._fs.FileSelector(at, allow_not_found=True))
            except NotADirectoryError:
                return []
        found = (self._status(f"{folder.rstrip('/')}/{info.base_name}", info) for info in infos)
        return sorted((status for status in found if status), key=lambda status: status.path)

    def make_folder(self, folder: str, mode: int) -> None:
        scheme = self._scheme(folder)
        if scheme != "file":
            if scheme not in OBJECT_STORES:
                raise _cannot_replace(scheme)
            file_system, at = self._at(folder)
            with _python_errors():
                file_system.create_dir(at, recursive=True)
            return
        path = _local(folder)
        missing = [path, *path.parents]
        while missing and missing[-1].exists():
            missing.pop()
        for each in reversed(missing):
            with suppress(FileExistsError):
                # never more open, not even for a moment; but the umask may take away what the owner wants to grant
                each.mkdir(mode)
                each.chmod(mode)

    def read(self, path: str, most: int = LARGEST) -> bytes:
        file_system, at = self._at(path)
        with _python_errors(), file_system.open_input_file(at) as stream:
            return no_larger(bytes(stream.read(most + 1)), most)

    def sha256(self, path: str) -> str:
        digest = hashlib.sha256()
        file_system, at = self._at(path)
        with _python_errors(), file_system.open_input_file(at) as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
        return digest.hexdigest()

    def copy(self, source: str, target: str) -> None:
        (from_system, at), (to_system, to) = self._at(source), self._at(target)
        with _python_errors():
            to_system.create_dir(to.rpartition("/")[0], recursive=True)
            self._fs.copy_files(at, to, source_filesystem=from_system, destination_filesystem=to_system)

    def delete(self, path: str) -> None:
        status = self.status(path)
        if status is None:
            return
        file_system, at = self._at(path)
        with _python_errors(), suppress(FileNotFoundError):
            (file_system.delete_dir if status.is_folder else file_system.delete_file)(at)

    def delete_empty(self, folder: str) -> bool:
        status = self.status(folder)
        if status is None or not status.is_folder or self.list(folder):
            return False
        if self._scheme(folder) != "file":
            self.delete(folder)
            return True
        try:
            _local(folder).rmdir()
        except OSError:
            # somebody began to use it this very moment, which is what rmdir looks for
            if self.list(folder):
                return False
            raise
        return True

    def _scheme(self, path: str) -> str:
        return _split(path)[0]

    def _write(self, path: str, content: bytes) -> None:
        file_system, at = self._at(path)
        # by default the stream would compress what is named .gz
        with _python_errors(), file_system.open_output_stream(at, compression=None) as stream:
            stream.write(content)

    def replace(self, path: str, content: bytes, temporary: str) -> None:
        if self._scheme(path) not in {"file", *OBJECT_STORES}:
            raise _cannot_replace(self._scheme(path))
        super().replace(path, content, temporary)

    def _rename_over(self, source: str, target: str) -> None:
        os.replace(_local(source), _local(target))  # noqa: PTH105 - named for what it guarantees

    def _at(self, path: str) -> tuple[Any, str]:
        """The file system of a path, and its name there."""
        scheme, authority, rest = _split(path)
        if (scheme, authority) not in self._opened:
            uri = f"{_ARROW_SCHEMES.get(scheme, scheme)}://{authority}/"
            with _python_errors():
                self._opened[scheme, authority] = self._fs.FileSystem.from_uri(uri)
        file_system, root = self._opened[scheme, authority]
        return file_system, f"{root.rstrip('/')}{rest}" or "/"

    def _status(self, path: str, info: Any) -> FileStatus | None:
        """Turn what Arrow knows into a status; None if the file is gone."""
        if info.type == self._fs.FileType.NotFound:
            return None
        is_folder = info.type == self._fs.FileType.Directory
        mode = local_mode(_split(path)[2]) if self._scheme(path) == "file" else 0o700
        if mode is None:
            return None
        modified_ms = info.mtime_ns // 1_000_000 if info.mtime_ns is not None else 0
        return FileStatus(path, is_folder, 0 if is_folder else int(info.size or 0), modified_ms, mode)


def _cannot_replace(scheme: str) -> OSError:
    return OSError(
        f"a client without Spark's JVM cannot replace a file of {scheme}: in one step; run the refresh in a classic "
        "session"
    )


def _split(path: str) -> tuple[str, str, str]:
    """Scheme ("file" if there is none), authority and the rest of a path."""
    match = _PATH.fullmatch(path)
    assert match is not None  # every part of the pattern may be empty
    scheme, authority, rest = match.groups()
    return (scheme or "file").lower(), authority or "", rest


def _join(scheme: str, authority: str, rest: str) -> str:
    return f"{scheme}://{authority}{rest}" if authority else f"{scheme}:{rest}"


def _local(path: str) -> Path:
    return Path(_split(path)[2])


@contextmanager
def _python_errors() -> Iterator[None]:
    """Raise the errors that are Arrow's own as `OSError`, as which it raises most of them anyway."""
    from pyarrow import ArrowException

    try:
        yield
    except ArrowException as error:
        if isinstance(error, OSError):
            raise
        raise OSError(str(error)) from error
