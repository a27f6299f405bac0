"""Find and remove the versions and files that an artifact no longer needs."""

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
    """How many versions stay, and for how long.

    Attributes:
        keep: Complete versions of an artifact that stay, the current one included; at least 1.
        grace_s: Seconds that a version stays after it was replaced, because queries planned before still read it.
        abandoned_after_s: Seconds without a change after which an incomplete version counts as abandoned: no refresh
            that still runs writes it.
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
    """Find the versions and files that an artifact no longer needs.

    The version in use is never among them, even if another one was published last. Complete versions in a format of a
    newer release stay, too.

    Args:
        filesystem: File system of the store.
        folder: Folder of the artifact.
        now_ms: The time, by the clock that stamps the store's files.
        limits: Which versions stay.
        whole: Name of a version that is known to be undamaged. If None, damaged versions are found, too.

    Yields:
        The files and folders to remove.

    Raises:
        UnreadableError: If it cannot be read now which version is in use.
        OSError: If the folders of the artifact cannot be listed.
    """
    pointer = filesystem.status(f"{folder}/{layout.CURRENT}")
    try:
        said = read_pointer(filesystem, folder) if pointer else None
    except UnknownFormatError:
        return
    except UnreadableError:
        # it may well name a version, which would then look replaced
        raise
    except DamagedError:
        said = None
    complete = complete_versions(filesystem, folder)
    for version in _own_versions(filesystem, folder):
        times = [complete[version.name]] if version.name in complete else changes(filesystem, version)
        # a version in an object store has no time before its first file; a wrong clock in its name then costs nothing
        times = times or [layout.begun_ms(version.name) or now_ms]
        # no query reads an incomplete version, or any version of an artifact without a pointer
        dead = version.name not in complete or pointer is None
        if dead and not any(is_near(time, now_ms, limits.abandoned_after_s) for time in times):
            yield _removal(filesystem, version, "abandoned")
    for status in filesystem.list(folder):
        if is_temporary(status) and not is_near(status.modified_ms, now_ms, limits.abandoned_after_s):
            yield _removal(filesystem, status, "temporary")
    if pointer is not None:
        yield from _replaced(filesystem, folder, pointer.modified_ms, said, complete, now_ms, limits, whole)


def _own_versions(filesystem: FileSystem, folder: str) -> list[FileStatus]:
    """List the versions that may be deleted. Links are left out, as their targets may belong to somebody else."""
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
    # a refresh that was killed before it wrote the pointer leaves a complete version that replaced none
    replacing = {pointer.version, *pointer.earlier} & complete.keys() if pointer else set()

    def is_old(name: str) -> bool:
        """Whether the version was replaced `grace_s` ago, by the next version or at the latest by the current one."""
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
            # newer versions that are not damaged could not be read just now, and may be in use in a moment
            spare = [name for name in spare if usable.index(name) > usable.index(in_use.name)]
    spare = [name for name in spare if _problem(filesystem, folder, name) is not UnknownFormatError]
    for version in _own_versions(filesystem, folder):
        if version.name in spare:
            yield _removal(filesystem, version, "replaced")
        elif version.name in damaged and is_old(version.name):
            yield _removal(filesystem, version, "damaged")


def remove(filesystem: FileSystem, removals: Iterable[Removal]) -> dict[str, str]:
    """Delete files and folders.

    Args:
        filesystem: File system of the store.
        removals: The files and folders to delete. A folder with the reason "empty" stays if it is not empty any more.

    Returns:
        From the path of a file or folder that could not be deleted to the reason.
    """
    failed = {}
    for removal in removals:
        try:
            if removal.reason == "empty":
                filesystem.delete_empty(removal.path)
                continue
            if removal.reason in ("replaced", "damaged", "undeclared"):
                # the marker goes first: a deletion cut short then leaves an incomplete version, not a damaged one
                marker = layout.CURRENT if removal.reason == "undeclared" else layout.MANIFEST
                filesystem.delete(f"{removal.path}/{marker}")
            filesystem.delete(removal.path)
        except OSError as error:
            log.warning("%s could not be deleted: %s", removal.path, error)
            failed[removal.path] = str(error)
    return failed


def is_temporary(status: FileStatus) -> bool:
    """Whether a file is temporary: its writer renames or deletes it as soon as it is complete.

    Args:
        status: A file in the folder of `_current.json`, or in the store's root.
    """
    is_ours = status.name.startswith("_") and status.name.endswith(".json") and status.name != layout.CURRENT
    return is_ours and not status.is_folder


def is_near(time_ms: int, now_ms: int, seconds: float) -> bool:
    """Whether two times lie close together. The first may be the later one, from a clock that was set back since.

    Args:
        time_ms: A time.
        now_ms: Another one, in milliseconds like the first.
        seconds: Times less than this apart are close.
    """
    return abs(now_ms - time_ms) < seconds * 1000


def changes(filesystem: FileSystem, folder: FileStatus) -> list[int]:
    """List the times at which a folder and everything below it changed; links are not followed.

    Hidden files count, as a running Spark job writes to `data/_temporary`.

    Args:
        filesystem: File system of the store.
        folder: A folder.

    Returns:
        Milliseconds since 1970, in no order. Folders whose time says nothing, as in object stores, are left out.
    """
    own = [folder.modified_ms] if folder.tells_time else []
    if not folder.is_folder or filesystem.is_link(folder.path):
        return own
    return [*own, *(time for below in filesystem.list(folder.path) for time in changes(filesystem, below))]


def is_foreign(filesystem: FileSystem, folder: str) -> bool:
    """Whether a newer release has written to an artifact.

    Args:
        filesystem: File system of the store.
        folder: Folder of the artifact.

    Raises:
        UnreadableError: If a file cannot be read now.
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
    """The problem of a version: it is damaged, in an unknown format, or cannot be read now. None if undamaged."""
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
        filesystem: File system of the store.
        status: A file or folder.

    Returns:
        Bytes.
    """
    if filesystem.is_link(status.path):
        return 0
    if not status.is_folder:
        return status.length
    return sum(size_of(filesystem, below) for below in filesystem.list(status.path))
