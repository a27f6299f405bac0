"""Find out that an embedded Derby metastore is in use, before Spark hangs on it without a word."""

from __future__ import annotations

import re
import struct
import sys
import time
from pathlib import Path

from spark_joinery.errors import JoineryError

# A holder that is about to end takes a second or two; longer waits would only delay the message.
DEFAULT_TIMEOUT_S = 5.0


class MetastoreLockedError(JoineryError):
    """Another process has the embedded metastore open, and Derby serves one at a time."""


def ensure_metastore_free(connection_url_or_dir: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
    """Return once no other process has an embedded Derby metastore open.

    Derby holds a lock on the file `dbex.lck` for as long as it has the database open; the file itself stays behind when
    a JVM is killed, so its existence says nothing. Needs no JVM. Does nothing for other databases.

    Args:
        connection_url_or_dir: The value of `javax.jdo.option.ConnectionURL`, or the database's folder.
        timeout_s: How long to wait for the other process to end, in seconds.

    Raises:
        MetastoreLockedError: If it has not ended by then.

    Example:
        >>> ensure_metastore_free("jdbc:derby:;databaseName=/data/metastore;create=true")
    """
    folder = derby_folder(connection_url_or_dir)
    if folder is None:
        return
    deadline = time.monotonic() + timeout_s
    while (holder := _holder(folder / "dbex.lck")) is not None:
        if time.monotonic() >= deadline:
            raise MetastoreLockedError(
                f"The Derby metastore {folder} is in use by {holder}, and Derby serves one process at a time. Wait "
                "until it ends, or end it (a notebook, spark-shell, dbt or Airflow task?), or use another metastore."
            )
        time.sleep(0.1)


def derby_folder(connection_url_or_dir: str) -> Path | None:
    """Find the folder of an embedded Derby database.

    Args:
        connection_url_or_dir: A JDBC URL, or the folder itself.

    Returns:
        The folder; None for other databases, and for Derby servers and in-memory databases, which nothing locks.

    Example:
        >>> derby_folder("jdbc:derby:;databaseName=/data/metastore;create=true")
        PosixPath('/data/metastore')
    """
    if not connection_url_or_dir.startswith("jdbc:"):
        return Path(connection_url_or_dir)
    match = re.match(r"jdbc:derby:(?!//|memory:)(?:directory:)?([^;]*)(.*)", connection_url_or_dir)
    if not match:
        return None
    attribute = re.search(r";\s*databaseName=([^;]+)", match[2])
    name = match[1] or (attribute[1] if attribute else "")
    return Path(name) if name else None


def _holder(lock_file: Path) -> str | None:
    """Name the process that holds a lock on a file; None if there is none."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        with lock_file.open("rb+") as file:
            if not sys.platform.startswith("linux"):
                return None if _lock(file.fileno()) else "another process"
            # F_GETLK names the holder without taking the lock, which might disturb a JVM that is just starting
            question = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0)
            kind, _, _, _, pid = struct.unpack("hhqqi", fcntl.fcntl(file, fcntl.F_GETLK, question))
            return None if kind == fcntl.F_UNLCK else f"process {pid}{_command(pid)}"
    except OSError:
        # no such database yet, or not ours to open: Derby will say so at once, without hanging
        return None


def _lock(file: int) -> bool:
    """Take a lock and give it back."""
    import fcntl

    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    fcntl.lockf(file, fcntl.LOCK_UN)
    return True


def _command(pid: int) -> str:
    try:
        return f" ({Path(f'/proc/{pid}/comm').read_text().strip()})"
    except OSError:
        return ""
