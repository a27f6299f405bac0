"""Every file system that Hadoop knows, through the JVM of a classic Spark session.

Local paths go through the JVM, too, like `hdfs:` or `s3a:`, so that local tests run nearly the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from spark_joinery.cause import is_gone
from spark_joinery.errors import JoineryError
from spark_joinery.store.errors import SparkGoneError
from spark_joinery.store.filesystem.base import LARGEST, FileStatus, FileSystem, local_mode, no_larger

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Method = TypeVar("_Method", bound=Callable[..., Any])

_MISSING = ("java.io.FileNotFoundException", "org.apache.hadoop.fs.ParentNotDirectoryException")
# Java also raises FileNotFoundException for a local file that exists but cannot be opened. Its text then ends in:
_REFUSED = ("(Permission denied)", "(Too many open files)", "(Too many open files in system)", "(Input/output error)")


def _python_errors(method: _Method) -> _Method:
    """Raise Java's exceptions as `OSError`, in one line: their own text carries a stack trace.

    A JVM that has ended raises `SparkGoneError` instead.
    """

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        from py4j.protocol import Py4JError, Py4JJavaError

        try:
            return method(*args, **kwargs)
        except Py4JJavaError as error:
            name = str(error.java_exception.getClass().getName())
            text = f"{name.rsplit('.', 1)[-1]}: {error.java_exception.getMessage()}"
            is_missing = name in _MISSING and not text.endswith(_REFUSED)
            raise (FileNotFoundError(text) if is_missing else OSError(text)) from error
        except (Py4JError, ConnectionError) as error:
            if is_gone(error):
                raise SparkGoneError from error
            raise

    return call  # type: ignore[return-value]


class HadoopFileSystem(FileSystem):
    """Hadoop's file systems, as one JVM has them configured."""

    def __init__(self, jvm: Any, configuration: Any) -> None:
        """Wrap a JVM.

        Args:
            jvm: The py4j view of a JVM with Hadoop's classes.
            configuration: Its `org.apache.hadoop.conf.Configuration`.
        """
        self._jvm = jvm
        self._fs = jvm.org.apache.hadoop.fs
        self._configuration = configuration

    @classmethod
    def of_session(cls, spark: SparkSession) -> HadoopFileSystem:
        """Use the JVM of a session.

        Args:
            spark: A classic session.

        Returns:
            File systems with the session's settings and credentials.

        Raises:
            JoineryError: If it is a Spark Connect session, whose JVM is out of reach.
        """
        jsc = getattr(spark, "_jsc", None)
        if jsc is None:
            raise JoineryError("This session is Spark Connect, whose JVM is out of reach: use ArrowFileSystem.")
        return cls(spark._jvm, jsc.hadoopConfiguration())

    @_python_errors
    def qualify(self, path: str) -> str:
        return str(self._at(path)[0].makeQualified(self._fs.Path(path)).toString())

    def status(self, path: str) -> FileStatus | None:
        try:
            return self._status(path)
        except FileNotFoundError:
            return None

    def list(self, folder: str) -> list[FileStatus]:
        try:
            return sorted(self._list(folder), key=lambda status: status.path)
        except FileNotFoundError:
            return []

    @_python_errors
    def make_folder(self, folder: str, mode: int) -> None:
        file_system, at = self._at(folder)
        missing = []
        while at is not None and not file_system.exists(at):
            missing.append(at)
            at = at.getParent()
        permission = self._fs.permission.FsPermission(f"{mode:o}")
        for path in reversed(missing):
            if not file_system.mkdirs(path, permission):
                raise OSError(f"cannot create the folder {path.toString()}")
            # mkdirs applies the umask, which may take away what the owner of the store wants to grant
            file_system.setPermission(path, permission)

    @_python_errors
    def read(self, path: str, most: int = LARGEST) -> bytes:
        file_system, at = self._at(path)
        stream = file_system.open(at)
        try:
            return no_larger(bytes(stream.readNBytes(most + 1)), most)
        finally:
            stream.close()

    @_python_errors
    def sha256(self, path: str) -> str:
        """Hash a file of any size, inside the JVM; 64 hex digits."""
        file_system, at = self._at(path)
        stream = file_system.open(at)
        try:
            return str(self._jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))
        finally:
            stream.close()

    @_python_errors
    def copy(self, source: str, target: str) -> None:
        if not self._fs.FileUtil.copy(*self._at(source), *self._at(target), False, True, self._configuration):
            raise OSError(f"cannot copy {source} to {target}")

    @_python_errors
    def delete(self, path: str) -> None:
        file_system, at = self._at(path)
        file_system.delete(at, True)
        # delete() of local file systems returns false for a failure, but also if there was nothing to delete
        if file_system.exists(at):
            raise OSError(f"cannot delete {path}")

    def delete_empty(self, folder: str) -> bool:
        # checked first, as delete() also deletes files, and some file systems raise where others return false
        status = self.status(folder)
        return status is not None and status.is_folder and not self.list(folder) and self._delete_folder(folder)

    @_python_errors
    def _delete_folder(self, folder: str) -> bool:
        file_system, at = self._at(folder)
        return bool(file_system.delete(at, False))

    @_python_errors
    def _status(self, path: str) -> FileStatus | None:
        file_system, at = self._at(path)
        return _file_status(file_system.getFileStatus(at))

    @_python_errors
    def _list(self, folder: str) -> Sequence[FileStatus]:
        file_system, at = self._at(folder)
        asked = (_file_status(status) for status in file_system.listStatus(at))
        found = [status for status in asked if status]
        # Hadoop lists a file as a folder with itself in it
        return [] if [status.path for status in found] == [self.qualify(folder)] else found

    @_python_errors
    def _scheme(self, path: str) -> str:
        return str(self._at(path)[0].getUri().getScheme())

    @_python_errors
    def _write(self, path: str, content: bytes) -> None:
        file_system, at = self._at(path)
        stream = file_system.create(at, True)
        try:
            stream.write(content)
        finally:
            stream.close()

    @_python_errors
    def _rename_over(self, source: str, target: str) -> None:
        file_system, target_path = self._at(target)
        source_path = self._fs.Path(source)
        if file_system.getUri().getScheme() == "file":
            # rename(2); FileContext would delete the target first
            if not file_system.rename(source_path, target_path):
                raise OSError(f"cannot rename {source} to {target}")
            return
        rename = self._jvm.org.apache.hadoop.fs.Options.Rename
        options = self._jvm.java.lang.reflect.Array.newInstance(rename.OVERWRITE.getClass(), 1)
        options[0] = rename.OVERWRITE
        context = self._fs.FileContext.getFileContext(file_system.getUri(), self._configuration)
        context.rename(source_path, target_path, options)

    def _at(self, path: str) -> tuple[Any, Any]:
        """The file system of a path, and the path for it."""
        at = self._fs.Path(path)
        file_system = at.getFileSystem(self._configuration)
        if file_system.getUri().getScheme() == "file":
            # the raw file system keeps no .crc files: a file and its .crc file cannot be replaced in one step
            file_system = self._fs.FileSystem.getLocal(self._configuration).getRawFileSystem()
        return file_system, at


def _file_status(status: Any) -> FileStatus | None:
    """Ask Java for all of a status; None if the file is gone by now."""
    path = str(status.getPath().toString())
    is_local = path.startswith("file:")
    # Hadoop starts `ls` for the permissions of each local file, which takes longer than all the rest
    mode = local_mode(path.removeprefix("file:")) if is_local else int(status.getPermission().toShort())
    if mode is None:
        return None
    return FileStatus(
        path=path,
        is_folder=bool(status.isDirectory()),
        length=int(status.getLen()),
        modified_ms=int(status.getModificationTime()),
        mode=mode,
    )
