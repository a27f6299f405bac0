"""Local files by Python alone: neither a JVM nor pyarrow is needed."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from spark_joinery.store.filesystem.base import LARGEST, FileStatus, FileSystem, no_larger

LOCAL = "file"
_PATH = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/]*))?(.*)", re.DOTALL)
CHUNK = 1 << 20


class LocalFileSystem(FileSystem):
    """The files of this machine.

    Example:
        >>> LocalFileSystem().qualify("/data//joinery/")
        'file:/data/joinery'
    """

    def qualify(self, path: str) -> str:
        scheme, authority, rest = split_path(path)
        if not rest.startswith("/"):
            rest = f"{Path.cwd()}/{rest}"
        rest = posixpath.normpath(f"/{rest.lstrip('/')}")
        return f"{scheme}://{authority}{rest}" if authority else f"{scheme}:{rest}"

    def status(self, path: str) -> FileStatus | None:
        try:
            found = _local(path).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        is_folder = stat.S_ISDIR(found.st_mode)
        length = 0 if is_folder else found.st_size
        return FileStatus(path, is_folder, length, found.st_mtime_ns // 1_000_000, stat.S_IMODE(found.st_mode))

    def list(self, folder: str) -> list[FileStatus]:
        try:
            names = sorted(path.name for path in _local(folder).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        found = (self.status(f"{folder.rstrip('/')}/{name}") for name in names)
        return [status for status in found if status]

    def make_folder(self, folder: str, mode: int) -> None:
        path = _local(folder)
        missing = [path, *path.parents]
        while missing and missing[-1].exists():
            missing.pop()
        for each in reversed(missing):
            with suppress(FileExistsError):
                # mkdir has the mode, so that the folder is never more open; chmod restores bits that the umask took
                each.mkdir(mode)
                each.chmod(mode)

    def read(self, path: str, most: int = LARGEST) -> bytes:
        with _local(path).open("rb") as stream:
            return no_larger(stream.read(most + 1), most)

    def sha256(self, path: str) -> str:
        digest = hashlib.sha256()
        with _local(path).open("rb") as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
        return digest.hexdigest()

    def copy(self, source: str, target: str) -> None:
        _local(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_local(source), _local(target))

    def delete(self, path: str) -> None:
        local = _local(path)
        # repeated, as another process may delete the same files
        while os.path.lexists(local):
            with suppress(FileNotFoundError):
                if local.is_dir() and not local.is_symlink():
                    shutil.rmtree(local)
                else:
                    local.unlink()

    def delete_empty(self, folder: str) -> bool:
        status = self.status(folder)
        if status is None or not status.is_folder or self.list(folder):
            return False
        try:
            _local(folder).rmdir()
        except OSError:
            # rmdir refuses if another process has just put a file there
            if self.list(folder):
                return False
            raise
        return True

    def _scheme(self, path: str) -> str:
        return split_path(path)[0]

    def _write(self, path: str, content: bytes) -> None:
        _local(path).write_bytes(content)

    def _rename_over(self, source: str, target: str) -> None:
        _local(source).replace(_local(target))


def split_path(path: str) -> tuple[str, str, str]:
    """Take a path apart.

    Args:
        path: The path, with or without a scheme.

    Returns:
        Scheme ("file" if there is none), authority and the rest.

    Example:
        >>> split_path("s3a://bucket/joinery")
        ('s3a', 'bucket', '/joinery')
    """
    match = _PATH.fullmatch(path)
    assert match is not None  # every part of the pattern may be empty
    scheme, authority, rest = match.groups()
    return (scheme or LOCAL).lower(), authority or "", rest


def _local(path: str) -> Path:
    return Path(split_path(path)[2])
