"""File systems without a JVM: for Spark Connect, and for commands that need not start Spark."""

from __future__ import annotations

import builtins
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from spark_joinery.errors import JoineryError
from spark_joinery.store.filesystem.base import LARGEST, OBJECT_STORES, FileStatus, no_larger
from spark_joinery.store.filesystem.local import CHUNK, LOCAL, LocalFileSystem, split_path

# Hadoop's names for what Arrow calls s3
_ARROW_SCHEMES = {"s3a": "s3", "s3n": "s3"}


class ArrowFileSystem(LocalFileSystem):
    """Local files by Python; `s3:`, `s3a:` and `gs:` by `pyarrow.fs`; `abfs:` and `hdfs:` too, but not to publish.

    Settings and credentials are pyarrow's own (environment variables, profiles), not those of Spark. Only local files
    have permission bits; elsewhere they read as 0700, and are not set.

    Example:
        >>> ArrowFileSystem().qualify("s3a://bucket//joinery/")
        's3a://bucket/joinery'
    """

    def __init__(self, opened: Mapping[str, Any] | None = None) -> None:
        """Keep file systems that are open already. pyarrow is loaded for the first path that is not local.

        Args:
            opened: File systems that need their own settings: from "scheme://authority" to a `pyarrow.fs.FileSystem`
                whose root is that place. pyarrow opens all others with its defaults.
        """
        self._opened = {split_path(place)[:2]: (file_system, "") for place, file_system in (opened or {}).items()}

    def status(self, path: str) -> FileStatus | None:
        if self._is_local(path):
            return super().status(path)
        file_system, at = self._at(path)
        with _python_errors():
            return self._status(path, file_system.get_file_info(at))

    def list(self, folder: str) -> builtins.list[FileStatus]:
        if self._is_local(folder):
            return super().list(folder)
        file_system, at = self._at(folder)
        with _python_errors():
            try:
                infos = file_system.get_file_info(_arrow().FileSelector(at, allow_not_found=True))
            except NotADirectoryError:
                return []
        found = (self._status(f"{folder.rstrip('/')}/{info.base_name}", info) for info in infos)
        return sorted((status for status in found if status), key=lambda status: status.path)

    def make_folder(self, folder: str, mode: int) -> None:
        if self._is_local(folder):
            super().make_folder(folder, mode)
            return
        if self._scheme(folder) not in OBJECT_STORES:
            raise _cannot_replace(self._scheme(folder))
        file_system, at = self._at(folder)
        with _python_errors():
            file_system.create_dir(at, recursive=True)

    def read(self, path: str, most: int = LARGEST) -> bytes:
        if self._is_local(path):
            return super().read(path, most)
        file_system, at = self._at(path)
        with _python_errors(), file_system.open_input_file(at) as stream:
            return no_larger(bytes(stream.read(most + 1)), most)

    def sha256(self, path: str) -> str:
        if self._is_local(path):
            return super().sha256(path)
        digest = hashlib.sha256()
        file_system, at = self._at(path)
        with _python_errors(), file_system.open_input_file(at) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
        return digest.hexdigest()

    def copy(self, source: str, target: str) -> None:
        if self._is_local(source) and self._is_local(target):
            super().copy(source, target)
            return
        (from_system, at), (to_system, to) = self._at(source), self._at(target)
        with _python_errors():
            to_system.create_dir(to.rpartition("/")[0], recursive=True)
            _arrow().copy_files(at, to, source_filesystem=from_system, destination_filesystem=to_system)

    def delete(self, path: str) -> None:
        if self._is_local(path):
            super().delete(path)
            return
        status = self.status(path)
        if status is None:
            return
        file_system, at = self._at(path)
        with _python_errors(), suppress(FileNotFoundError):
            (file_system.delete_dir if status.is_folder else file_system.delete_file)(at)

    def delete_empty(self, folder: str) -> bool:
        if self._is_local(folder):
            return super().delete_empty(folder)
        status = self.status(folder)
        if status is None or not status.is_folder or self.list(folder):
            return False
        self.delete(folder)
        return True

    def replace(self, path: str, content: bytes, temporary: str) -> None:
        if self._scheme(path) not in {LOCAL, *OBJECT_STORES}:
            raise _cannot_replace(self._scheme(path))
        super().replace(path, content, temporary)

    def _is_local(self, path: str) -> bool:
        return self._scheme(path) == LOCAL

    def _write(self, path: str, content: bytes) -> None:
        if self._is_local(path):
            super()._write(path, content)
            return
        file_system, at = self._at(path)
        # by default the stream would compress files named .gz
        with _python_errors(), file_system.open_output_stream(at, compression=None) as stream:
            stream.write(content)

    def _at(self, path: str) -> tuple[Any, str]:
        """The file system of a path, and its name there."""
        scheme, authority, rest = split_path(path)
        if (scheme, authority) not in self._opened:
            uri = f"{_ARROW_SCHEMES.get(scheme, scheme)}://{authority}/"
            arrow = _arrow()
            with _python_errors():
                self._opened[scheme, authority] = arrow.FileSystem.from_uri(uri)
        file_system, root = self._opened[scheme, authority]
        return file_system, f"{root.rstrip('/')}{rest}" or "/"

    def _status(self, path: str, info: Any) -> FileStatus | None:
        """Turn what Arrow knows into a status; None if the file is gone."""
        if info.type == _arrow().FileType.NotFound:
            return None
        is_folder = info.type == _arrow().FileType.Directory
        modified_ms = info.mtime_ns // 1_000_000 if info.mtime_ns is not None else 0
        return FileStatus(path, is_folder, 0 if is_folder else int(info.size or 0), modified_ms, 0o700)


def _arrow() -> Any:
    """The module `pyarrow.fs`."""
    try:
        from pyarrow import fs
    except ImportError:
        raise JoineryError(
            "Without Spark's JVM a store that is not on this machine is read with pyarrow, which is not installed: "
            "pip install 'pyspark[connect]'."
        ) from None
    return fs


def _cannot_replace(scheme: str) -> OSError:
    return OSError(
        f"a client without Spark's JVM cannot replace a file of {scheme}: in one step; run the refresh in a classic "
        "session"
    )


@contextmanager
def _python_errors() -> Iterator[None]:
    """Raise Arrow's own exceptions as `OSError`. Arrow raises most errors of file systems as `OSError` itself."""
    from pyarrow import ArrowException

    try:
        yield
    except ArrowException as error:
        if isinstance(error, OSError):
            raise
        raise OSError(str(error)) from error
