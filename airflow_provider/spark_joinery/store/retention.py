"""Find and remove what nobody needs any more of one artifact."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from spark_joinery.store import layout
from spark_joinery.store.filesystem import FileStatus, FileSystem
from spark_joinery.store.lookup import Pointer, complete_versions, find_current, newest_first, read_pointer
from spark_joinery.store.verify import DamagedError, UnknownFormatError, UnreadableError, read_version

log = logging.getLogger(__name__)

Reason = Literal["replaced", "abandoned", "damaged", "temporary", "undeclared", "empty"]


@dataclass(frozen=True)
class Limits:
    """What stays.

    Attributes:
        keep: Complete versions of an artifact, the current one among them; at least 1.
        grace_s: A version stays for so many seconds after it was replaced, as queries planned before still read it.
        abandoned_after_s: An incomplete version in which nothing changed for so many seconds belongs to no refresh that
            still runs.
    """

    keep: int = 3
    grace_s: float = 3600.0
    abandoned_after_s: float = 6 * 3600.0


@dataclass(frozen=True)
class Removal:
    """Something to delete, or deleted.

    Attributes:
        path: The file, or the folder with all that it holds.
        reason: "replaced" by later versions, "abandoned" by a refresh that was killed, "damaged", "temporary" file,
            "undeclared" artifact, or "empty" folder.
        bytes: Length of all files.
    """

    path: str
    reason: Reason
    bytes: int = 0


def superfluous(
    filesystem: FileSystem, folder: str, now_ms: int, limits: Limits, whole: str | None = None
) -> Iterator[Removal]:
    """Find what is no longer needed of an artifact.

    Never the version that is in use, even if it is not the one that was published last, and nothing of a format that a
    newer release wrote.

    Args:
        filesystem: Where the store lies.
        folder: Folder of the artifact.
        now_ms: The time, by the clock that stamps the store's files.
        limits: What stays.
        whole: A version that is known to be undamaged; without it damaged versions are looked for, too.

    Yields:
        What to remove.

    Raises:
        UnreadableError: If the file system does not tell now which version is in use.
        OSError: If it does not tell what there is.
    """
    pointer = filesystem.status(f"{folder}/{layout.CURRENT}")
    try:
        said = read_pointer(filesystem, folder) if pointer else None
    except UnknownFormatError:
        return
    except UnreadableError:
        # it may well name a version, which would look like one that was replaced
        raise
    except DamagedError:
        said = None
    complete = complete_versions(filesystem, folder)
    for version in _own_versions(filesystem, folder):
        times = [complete[version.name]] if version.name in complete else changes(filesystem, version)
        # in an object store a version is nothing before its first file; a wrong clock costs it nothing there
        times = times or [layout.begun_ms(version.name) or now_ms]
        # a version that never became current is one that nobody reads
        dead = version.name not in complete or pointer is None
        if dead and not any(is_near(time, now_ms, limits.abandoned_after_s) for time in times):
            yield _removal(filesystem, version, "abandoned")
    for status in filesystem.list(folder):
        if is_temporary(status) and not is_near(status.modified_ms, now_ms, limits.abandoned_after_s):
            yield _removal(filesystem, status, "temporary")
    if pointer is not None:
        yield from _replaced(filesystem, folder, pointer.modified_ms, said, complete, now_ms, limits, whole)


def _own_versions(filesystem: FileSystem, folder: str) -> list[FileStatus]:
    """List the versions that may be deleted; a link leads to what somebody else put there."""
    versions = f"{folder}/{layout.VERSIONS}"
    if filesystem.is_link(versions):
        return []
    return [status for status in filesystem.list(versions) if not filesystem.is_link(status.path)]


def _replaced(
    filesystem: FileSystem,
    folder: str,
    pointed_ms: int,
    pointer: Pointer | None,
    complete: dict[str, int],
    now_ms: int,
    limits: Limits,
    whole: str | None,
) -> Iterator[Removal]:
    """Find complete versions to remove."""
    published = pointer.version if pointer else None
    # a refresh that was killed before it wrote the pointer has left a complete version that replaced none
    replacing = {pointer.version, *pointer.earlier} & complete.keys() if pointer else set()

    def is_old(name: str) -> bool:
        """Replaced by the next version; or, whatever the clock said when it was written, by the current one."""
        later = [complete[other] for other in replacing if complete[other] > complete[name]]
        replaced_ms = min([*later, pointed_ms])
        return now_ms - replaced_ms >= limits.grace_s * 1000 and not is_near(complete[name], now_ms, limits.grace_s)

    others = [name for name in newest_first(complete, published) if name != published]
    damaged = [] if whole else [name for name in others if _problem(filesystem, folder, name) is DamagedError]
    usable = [name for name in others if name not in damaged]
    kept = limits.keep - 1 if published in complete else limits.keep
    spare = [name for name in usable[kept:] if is_old(name)]
    if spare and whole != published:
        in_use = find_current(filesystem, folder).version
        if in_use is None:
            spare = []
        elif in_use.name in usable:
            # what is newer than it, and is not damaged, could not be read just now: it may be in use in a moment
            spare = [name for name in spare if usable.index(name) > usable.index(in_use.name)]
    spare = [name for name in spare if _problem(filesystem, folder, name) is not UnknownFormatError]
    for version in _own_versions(filesystem, folder):
        if version.name in spare:
            yield _removal(filesystem, version, "replaced")
        elif version.name in damaged and is_old(version.name):
            yield _removal(filesystem, version, "damaged")


def remove(filesystem: FileSystem, removals: Iterable[Removal]) -> dict[str, str]:
    """Delete what was found.

    Args:
        filesystem: Where the store lies.
        removals: What to delete; a folder that is to be empty stays if it is not.

    Returns:
        From the path of what could not be deleted to the reason.
    """
    failed = {}
    for removal in removals:
        try:
            if removal.reason == "empty":
                filesystem.delete_empty(removal.path)
                continue
            if removal.reason in ("replaced", "damaged", "undeclared"):
                # first what makes it count: a deletion cut short leaves an incomplete version, not a damaged one
                marker = layout.CURRENT if removal.reason == "undeclared" else layout.MANIFEST
                filesystem.delete(f"{removal.path}/{marker}")
            filesystem.delete(removal.path)
        except OSError as error:
            log.warning("%s could not be deleted: %s", removal.path, error)
            failed[removal.path] = str(error)
    return failed


def is_temporary(status: FileStatus) -> bool:
    """Whether a file is one that a writer renames or deletes as soon as it is complete.

    Args:
        status: A file beside `_current.json`, or in the store's root.
    """
    is_ours = status.name.startswith("_") and status.name.endswith(".json") and status.name != layout.CURRENT
    return is_ours and not status.is_folder


def is_near(time_ms: int, now_ms: int, seconds: float) -> bool:
    """Whether two times lie close together; one in the future comes from a clock that was set back since.

    Args:
        time_ms: A time.
        now_ms: Another one, in milliseconds like the first.
        seconds: What counts as close.
    """
    return abs(now_ms - time_ms) < seconds * 1000


def changes(filesystem: FileSystem, folder: FileStatus) -> list[int]:
    """When a folder and all below it changed, links not followed; a running Spark job has files in `data/_temporary`.

    Args:
        filesystem: Where the store lies.
        folder: A folder.

    Returns:
        Milliseconds since 1970, in no order; none of folders whose time says nothing, such as those of object stores.
    """
    own = [folder.modified_ms] if folder.tells_time else []
    if not folder.is_folder or filesystem.is_link(folder.path):
        return own
    return [*own, *(time for below in filesystem.list(folder.path) for time in changes(filesystem, below))]


def is_foreign(filesystem: FileSystem, folder: str) -> bool:
    """Whether a newer release has written to an artifact.

    Args:
        filesystem: Where the store lies.
        folder: Folder of the artifact.

    Raises:
        UnreadableError: If the file system does not tell now.
    """

    def is_unknown(read: Callable[[], object]) -> bool:
        try:
            read()
        except UnreadableError:
            raise
        except DamagedError as problem:
            return isinstance(problem, UnknownFormatError)
        return False

    return is_unknown(lambda: read_pointer(filesystem, folder)) or any(
        is_unknown(partial(read_version, filesystem, folder, name, verify="length"))
        for name in complete_versions(filesystem, folder)
    )


def _problem(filesystem: FileSystem, folder: str, name: str) -> type[DamagedError] | None:
    """What is wrong with a version: it is damaged for sure, of a newer format, or cannot be read now; None if whole."""
    try:
        read_version(filesystem, folder, name, verify="length")
    except DamagedError as problem:
        return type(problem)
    return None


def _removal(filesystem: FileSystem, status: FileStatus, reason: Reason) -> Removal:
    return Removal(status.path, reason, size_of(filesystem, status))


def size_of(filesystem: FileSystem, status: FileStatus) -> int:
    """Add up the lengths of all files, hidden ones too, but not of what links lead to.

    Args:
        filesystem: Where the store lies.
        status: A file or folder.

    Returns:
        Bytes.
    """
    if filesystem.is_link(status.path):
        return 0
    if not status.is_folder:
        return status.length
    return sum(size_of(filesystem, below) for below in filesystem.list(status.path))
