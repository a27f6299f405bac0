"""Remove from the store what nobody needs any more."""

from __future__ import annotations

import logging
import time

from spark_joinery.store import layout
from spark_joinery.store.filesystem import FileStatus, HadoopFileSystem
from spark_joinery.store.version import PendingVersion

log = logging.getLogger(__name__)


def clean(filesystem: HadoopFileSystem, published: PendingVersion, keep: int, abandoned_after_s: float) -> None:
    """Delete complete versions beyond `keep`, and what killed refreshes left behind.

    Args:
        filesystem: Where the store lies.
        published: The version just published, which stays.
        keep: Number of complete versions to keep.
        abandoned_after_s: Age in seconds from which an incomplete version counts as left behind.
    """
    complete: list[FileStatus] = []
    oldest_ms = (time.time() - abandoned_after_s) * 1000
    for status in reversed(filesystem.list(f"{published.folder}/{layout.VERSIONS}")):
        if filesystem.status(f"{status.path}/{layout.MANIFEST}") is not None:
            complete.append(status)
        elif _last_change_ms(filesystem, status) < oldest_ms:
            _delete(filesystem, status)
    for status in complete[keep:]:
        if status.name != published.name:
            _delete(filesystem, status)
    for status in filesystem.list(published.folder):
        if status.name != layout.CURRENT and not status.is_folder and status.modified_ms < oldest_ms:
            _delete(filesystem, status)


def _last_change_ms(filesystem: HadoopFileSystem, folder: FileStatus) -> int:
    """When something below a folder changed last; a running Spark job keeps its files in `data/_temporary`."""
    below = filesystem.list(folder.path)
    times = [_last_change_ms(filesystem, status) if status.is_folder else status.modified_ms for status in below]
    return max([folder.modified_ms, *times])


def _delete(filesystem: HadoopFileSystem, status: FileStatus) -> None:
    """Delete what is not needed; the refresh itself has succeeded, so a failure is only worth a warning."""
    from py4j.protocol import Py4JJavaError

    try:
        filesystem.delete(status.path)
    except (Py4JJavaError, OSError) as error:
        log.warning("%s could not be deleted: %s", status.path, error)
