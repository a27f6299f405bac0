"""The few file operations the store needs, on every file system that Hadoop knows.

Local paths take the same way through the JVM as `hdfs:` or `s3a:`, so what is tested locally is what runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_joinery.errors import JoineryError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Here a file appears as a whole when it is closed, while a rename is a copy and a delete.
_OBJECT_STORES = frozenset({"s3", "s3a", "s3n", "gs", "oss", "cosn", "obs"})


@dataclass(frozen=True)
class FileStatus:
    """One file or folder.

    Attributes:
        path: Qualified, "scheme:/path" or "scheme://authority/path".
        is_folder: Whether it is a folder.
        length: Bytes.
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


class HadoopFileSystem:
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
            raise JoineryError(
                "The artifact store needs a classic Spark session; this one is Spark Connect. Run the refresh next to "
                "Spark: `joinery refresh`, spark-submit, or a hook whose master is not a Connect address."
            )
        return cls(spark._jvm, jsc.hadoopConfiguration())

    def qualify(self, path: str) -> str:
        """Write a path with its scheme, as Hadoop prints it."""
        return str(self._at(path)[0].makeQualified(self._fs.Path(path)).toString())

    def path_of_uri(self, uri: str) -> str:
        """Turn a URI, where a space is %20, into a Hadoop path, where it is a space."""
        return str(self._fs.Path(self._jvm.java.net.URI(uri)).toString())

    def status(self, path: str) -> FileStatus | None:
        """Look at a file or folder; None if there is none."""
        file_system, at = self._at(path)
        with _not_found_is_none() as found:
            found.append(_status(file_system.getFileStatus(at)))
        return found[0] if found else None

    def list(self, folder: str) -> list[FileStatus]:
        """List a folder, sorted by name; empty if there is none."""
        file_system, at = self._at(folder)
        with _not_found_is_none() as found:
            found.extend(_status(status) for status in file_system.listStatus(at))
        return sorted(found, key=lambda status: status.path)

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """Yield all files below a folder, hidden ones left out as Spark does."""
        for status in self.list(folder):
            if status.name.startswith(("_", ".")):
                continue
            if status.is_folder:
                yield from self.walk(status.path)
            else:
                yield status

    def make_folder(self, folder: str, mode: int) -> None:
        """Create a folder and its parents, all with `mode` whatever the umask; those that exist stay as they are.

        Raises:
            OSError: If it cannot be created.
        """
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

    def read(self, path: str) -> bytes:
        """Read a small file as a whole."""
        file_system, at = self._at(path)
        stream = file_system.open(at)
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def sha256(self, path: str) -> str:
        """Hash a file of any size, inside the JVM."""
        file_system, at = self._at(path)
        stream = file_system.open(at)
        try:
            return str(self._jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))
        finally:
            stream.close()

    def replace(self, path: str, content: bytes, temporary: str) -> None:
        """Write a small file so that readers see the old or the new content, never none or a part.

        Args:
            path: The file.
            content: All of it.
            temporary: A file beside it to write first, named so that no other writer uses it.
        """
        file_system, _ = self._at(path)
        if file_system.getUri().getScheme() in _OBJECT_STORES:
            self._write(path, content)
            return
        self._write(temporary, content)
        self.rename_over(temporary, path)

    def rename_over(self, source: str, target: str) -> None:
        """Rename a file; one that has the name already is replaced in the same step."""
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

    def delete(self, path: str) -> None:
        """Delete a file, or a folder with all it holds; fine if there is none."""
        file_system, at = self._at(path)
        file_system.delete(at, True)

    def _write(self, path: str, content: bytes) -> None:
        file_system, at = self._at(path)
        stream = file_system.create(at, True)
        try:
            stream.write(content)
        finally:
            stream.close()

    def _at(self, path: str) -> tuple[Any, Any]:
        """The file system of a path, and the path for it."""
        at = self._fs.Path(path)
        file_system = at.getFileSystem(self._configuration)
        if file_system.getUri().getScheme() == "file":
            # without the layer that keeps .crc files, which cannot be replaced together with theirs in one step
            file_system = self._fs.FileSystem.getLocal(self._configuration).getRawFileSystem()
        return file_system, at


def _status(status: Any) -> FileStatus:
    return FileStatus(
        path=str(status.getPath().toString()),
        is_folder=bool(status.isDirectory()),
        length=int(status.getLen()),
        modified_ms=int(status.getModificationTime()),
        mode=int(status.getPermission().toShort()),
    )


@contextmanager
def _not_found_is_none() -> Iterator[list[FileStatus]]:
    """Collect what is there; that there is nothing is no error."""
    from py4j.protocol import Py4JJavaError

    found: list[FileStatus] = []
    try:
        yield found
    except Py4JJavaError as error:
        if _java_class(error) not in (
            "java.io.FileNotFoundException",
            "org.apache.hadoop.fs.ParentNotDirectoryException",
        ):
            raise


def explain_java_error(error: Any) -> str:
    """Shorten a `Py4JJavaError`, whose text carries a Java stack trace.

    Args:
        error: The error.

    Returns:
        "ExceptionClass: message".
    """
    return f"{_java_class(error).rsplit('.', 1)[-1]}: {error.java_exception.getMessage()}"


def _java_class(error: Any) -> str:
    return str(error.java_exception.getClass().getName())
