"""Find the version of an artifact that is in use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from spark_joinery.store import layout
from spark_joinery.store.filesystem import FileSystem
from spark_joinery.store.formats import CURRENT_FORMAT_VERSIONS
from spark_joinery.store.verify import DamagedError, UnreadableError, Verify, read_json, read_version
from spark_joinery.store.version import Lookup

# Maximum bytes of a pointer. Two hundred are usual, and no release writes more than this. The jar has the same limit.
LARGEST_POINTER = 64 << 10
# Maximum names of earlier versions in a pointer. They take half of its bytes.
_MOST_EARLIER = 1000


class Pointer(NamedTuple):
    """Content of `_current.json`.

    Attributes:
        version: Name of the version that is current.
        sha256: Checksum of its `version.json`.
        earlier: Names of versions that were current before it, the last one first.
    """

    version: str
    sha256: str
    earlier: tuple[str, ...] = ()


def find_current(filesystem: FileSystem, folder: str, verify: Verify = "checksum") -> Lookup:
    """Find the version to use.

    Args:
        filesystem: File system of the store.
        folder: Folder of the artifact.
        verify: How carefully to look at its files, see `read_version`.

    Returns:
        The version that `_current.json` names; if that is damaged, the newest other one that is complete and undamaged.
    """
    reasons: list[str] = []
    published = None
    may_pass = True
    try:
        if filesystem.status(f"{folder}/{layout.CURRENT}") is None:
            return Lookup(None, "nothing has been published yet")
        try:
            published, sha256, _ = read_pointer(filesystem, folder)
            return Lookup(read_version(filesystem, folder, published, sha256, verify), None)
        except DamagedError as problem:
            reasons.append(str(problem))
            may_pass = isinstance(problem, UnreadableError)
        complete = complete_versions(filesystem, folder)
    except OSError as error:
        reasons.append(f"the artifact cannot be read ({error})")
        return Lookup(None, "; ".join(reasons), damaged=True, may_pass=may_pass)
    for name in newest_first(complete, published):
        if name == published:
            continue
        try:
            version = read_version(filesystem, folder, name, verify=verify)
            return Lookup(version, "; ".join([*reasons, f"version {version.name} is used"]), True, may_pass)
        except DamagedError as problem:
            reasons.append(str(problem))
    return Lookup(None, "; ".join([*reasons, "no valid version is left"]), True, may_pass)


def read_pointer(filesystem: FileSystem, folder: str) -> Pointer:
    """Read `_current.json`.

    Args:
        filesystem: File system of the store.
        folder: Folder of the artifact.

    Returns:
        Its content.

    Raises:
        DamagedError: If the file is missing, unreadable or of an unknown format.
    """
    path = f"{folder}/{layout.CURRENT}"
    pointer = read_json(filesystem, path, layout.CURRENT, CURRENT_FORMAT_VERSIONS, most=LARGEST_POINTER)
    name, sha256 = pointer.get("version"), pointer.get("version_sha256")
    if not isinstance(name, str) or not isinstance(sha256, str) or not re.fullmatch("[0-9A-Za-z-]+", name):
        raise DamagedError(f"{layout.CURRENT} does not name a version")
    earlier = pointer.get("earlier")  # an older release wrote none
    return Pointer(name, sha256, tuple(map(str, earlier)) if isinstance(earlier, list) else ())


def earlier_versions(filesystem: FileSystem, folder: str) -> list[str]:
    """List the versions that a new pointer has to name as earlier ones.

    Args:
        filesystem: File system of the store.
        folder: Folder of the artifact.

    Returns:
        Names of versions that still exist and are, or were, current, the last one first. Empty if `_current.json`
        cannot be read, which only makes versions stay longer.
    """
    try:
        pointer = read_pointer(filesystem, folder)
    except DamagedError:
        return []
    there = {version.name for version in filesystem.list(f"{folder}/{layout.VERSIONS}")}
    names = dict.fromkeys([pointer.version, *pointer.earlier])
    return [name for name in names if name in there][:_MOST_EARLIER]


def complete_versions(filesystem: FileSystem, folder: str) -> dict[str, int]:
    """List the versions that have been written to their end.

    Args:
        filesystem: File system of the store.
        folder: Folder of the artifact.

    Returns:
        From the name of a version to the time of its `version.json`, in milliseconds since 1970. Versions that this
        process may not read are included, as they may be complete.
    """
    found = {}
    for version in filesystem.list(f"{folder}/{layout.VERSIONS}"):
        try:
            manifest = filesystem.status(f"{version.path}/{layout.MANIFEST}")
        except OSError:
            manifest = version
        if manifest is not None:
            found[version.name] = manifest.modified_ms if manifest.tells_time else layout.begun_ms(version.name)
    return found


def newest_first(names: Iterable[str], published: str | None) -> list[str]:
    """Order versions by age.

    Names begin with the time of the machine that wrote them. A name that is later than the version published last has
    the time of a wrong clock, or another writer published after it. Such names go to the end, so that they do not hide
    newer versions.

    Args:
        names: Names of versions.
        published: The version published last, if known.

    Returns:
        The names, the newest first.

    Example:
        >>> newest_first(["20260101", "20260102", "20990101"], "20260102")
        ['20260102', '20260101', '20990101']
    """
    late = [name for name in names if published is not None and name > published]
    return [*sorted(set(names) - set(late), reverse=True), *sorted(late, reverse=True)]
