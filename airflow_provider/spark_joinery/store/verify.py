"""Read a version from the store and check that it is complete and unchanged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from typing import Any, Literal

from spark_joinery.store import layout
from spark_joinery.store.contents import problem_of
from spark_joinery.store.errors import StoreNameError
from spark_joinery.store.filesystem import LARGEST, FileStatus, FileSystem, TooLargeError
from spark_joinery.store.formats import FORMAT_VERSIONS, Description, upgrade
from spark_joinery.store.seal import is_broken
from spark_joinery.store.version import ArtifactVersion

Verify = Literal["length", "checksum"]


class DamagedError(Exception):
    """A version that must not be used; the message is the reason."""


class UnknownFormatError(DamagedError):
    """A version in a format that only another release of spark-joinery reads. It is not damaged."""


class UnreadableError(DamagedError):
    """The file system refused to read a version, which may be temporary."""


def read_version(
    filesystem: FileSystem, folder: str, name: str, sha256: str | None = None, verify: Verify = "checksum"
) -> ArtifactVersion:
    """Read a version and check every file of it.

    Args:
        filesystem: File system of the store.
        folder: Folder of the artifact.
        name: Name of the version.
        sha256: Checksum of its `version.json`, if known.
        verify: "length" checks that every file is there with its length; "checksum" then reads them all.

    Returns:
        The version.

    Raises:
        DamagedError: If something is missing, changed, unreadable or of an unknown format.
    """
    path = f"{folder}/{layout.VERSIONS}/{name}"
    what = f"version {name}"
    written = read_json(filesystem, f"{path}/{layout.MANIFEST}", f"{what}: {layout.MANIFEST}", FORMAT_VERSIONS, sha256)
    try:
        description = upgrade(written)
        _check_names(description, folder, name)
        expected = {str(entry["path"]): (entry["length"], entry["sha256"]) for entry in description["files"]}
        problem = problem_of(description)
    except (KeyError, TypeError, StoreNameError) as error:
        raise DamagedError(f"{what}: {layout.MANIFEST} is not understood ({error!r})") from None
    if problem:
        raise DamagedError(f"{what}: {layout.MANIFEST} {problem}")
    try:
        _check_lengths(filesystem, path, what, {file: length for file, (length, _) in expected.items()})
        for file, (_, checksum) in expected.items() if verify == "checksum" else ():
            if filesystem.sha256(f"{path}/{file}") != checksum:
                raise DamagedError(f"{what}: {file} has a wrong checksum")
    except OSError as error:
        raise UnreadableError(f"{what} cannot be read ({error})") from None
    return ArtifactVersion(name, path, description, written["format_version"])


def read_json(
    filesystem: FileSystem,
    path: str,
    what: str,
    known: Collection[int],
    sha256: str | None = None,
    most: int = LARGEST,
) -> dict[str, Any]:
    """Read one of the store's own files.

    Args:
        filesystem: File system of the store.
        path: The file.
        what: Name of the file in reasons.
        known: Format versions that this release reads.
        sha256: Its checksum, if known.
        most: Maximum length, in bytes.

    Returns:
        The JSON object in it.

    Raises:
        DamagedError: If it is missing, changed, unreadable or of an unknown format.
    """
    try:
        content = filesystem.read(path, most)
    except FileNotFoundError:
        raise DamagedError(f"{what} is missing") from None
    except TooLargeError as error:
        raise DamagedError(f"{what} has {error}") from None
    except OSError as error:
        raise UnreadableError(f"{what} cannot be read ({error})") from None
    if sha256 not in (None, hashlib.sha256(content).hexdigest()):
        raise DamagedError(f"{what} has a wrong checksum")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise DamagedError(f"{what} is not JSON") from None
    if not isinstance(value, dict):
        raise DamagedError(f"{what} is not a JSON object")
    found = value.get("format_version")
    if type(found) is not int:
        raise DamagedError(f"{what} does not say its format version")
    if found not in known:
        reads = f"{min(known)} to {max(known)}" if len(known) > 1 else f"{max(known)}"
        raise UnknownFormatError(
            f"{what} has format version {found}, while this release of spark-joinery reads {reads}"
        )
    if is_broken(content):
        raise DamagedError(f"{what} has a wrong checksum")
    return value


def files_of(filesystem: FileSystem, path: str) -> Iterator[FileStatus]:
    """Yield the files that make up a version, apart from its `version.json`.

    Args:
        filesystem: File system of the store.
        path: Folder of the version.
    """
    for part in (layout.DATA, layout.STATE):
        yield from filesystem.walk(f"{path}/{part}")


def _check_names(description: Description, folder: str, name: str) -> None:
    """Check that the version was written for its folder. A copied folder belongs to another artifact."""
    artifact = layout.artifact_folder(description["kind"], description["relation"], description["spec_hash"])
    if not folder.endswith(f"/{artifact}") or description["version"] != name:
        raise DamagedError(f"version {name}: {layout.MANIFEST} is that of {artifact}, version {description['version']}")


def _check_lengths(filesystem: FileSystem, path: str, what: str, expected: dict[str, int]) -> None:
    """Compare all files with their entries in `version.json`. A listing is cheap, even for many files."""
    found = {file.path[len(path) + 1 :]: file.length for file in files_of(filesystem, path)}
    for file, length in expected.items():
        if file not in found:
            raise DamagedError(f"{what}: {file} is missing")
        if found[file] != length:
            raise DamagedError(f"{what}: {file} has {found[file]} bytes instead of {length}")
    # a reader of the folder would read an added file, too
    if added := sorted(found.keys() - expected.keys()):
        raise DamagedError(f"{what}: {added[0]} does not belong to it")
