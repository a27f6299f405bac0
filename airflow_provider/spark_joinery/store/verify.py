"""Read a version from the store and check that it is what was written."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from spark_joinery.store import layout
from spark_joinery.store.filesystem import HadoopFileSystem, explain_java_error
from spark_joinery.store.version import ArtifactVersion

FORMAT_VERSION = 1


class DamagedError(Exception):
    """A version that must not be used; the message is the reason."""


def read_version(filesystem: HadoopFileSystem, folder: str, name: str, sha256: str | None = None) -> ArtifactVersion:
    """Read a version and check every file of it.

    Args:
        filesystem: Where the store lies.
        folder: Folder of the artifact.
        name: Name of the version.
        sha256: Checksum of its `version.json`, if known.

    Returns:
        The version.

    Raises:
        DamagedError: If something is missing, changed, unreadable or of an unknown format.
    """
    path = f"{folder}/{layout.VERSIONS}/{name}"
    description = read_json(filesystem, f"{path}/{layout.MANIFEST}", f"version {name}: {layout.MANIFEST}", sha256)
    try:
        for entry in description["files"]:
            _check_file(filesystem, f"{path}/{entry['path']}", f"version {name}: {entry['path']}", entry)
    except (KeyError, TypeError) as error:
        raise DamagedError(f"version {name}: {layout.MANIFEST} is not understood ({error!r})") from None
    return ArtifactVersion(name, path, description)


def read_json(filesystem: HadoopFileSystem, path: str, what: str, sha256: str | None = None) -> dict[str, Any]:
    """Read one of the store's own files.

    Args:
        filesystem: Where the store lies.
        path: The file.
        what: What to call it in reasons.
        sha256: Its checksum, if known.

    Returns:
        The JSON object in it.

    Raises:
        DamagedError: If it is missing, changed, unreadable or of an unknown format.
    """
    from py4j.protocol import Py4JJavaError

    try:
        content = filesystem.read(path)
    except Py4JJavaError as error:
        raise DamagedError(f"{what} cannot be read ({explain_java_error(error)})") from None
    if sha256 not in (None, hashlib.sha256(content).hexdigest()):
        raise DamagedError(f"{what} has a wrong checksum")
    try:
        value = json.loads(content)
    except ValueError:
        raise DamagedError(f"{what} is not JSON") from None
    if not isinstance(value, dict):
        raise DamagedError(f"{what} is not a JSON object")
    if value.get("format_version") != FORMAT_VERSION:
        raise DamagedError(
            f"{what} has format version {value.get('format_version')}, while this release of spark-joinery reads "
            f"{FORMAT_VERSION}"
        )
    return value


def _check_file(filesystem: HadoopFileSystem, path: str, what: str, expected: dict[str, Any]) -> None:
    """Compare one data file with its entry in `version.json`; the length first, as it costs nothing."""
    from py4j.protocol import Py4JJavaError

    try:
        status = filesystem.status(path)
        if status is None:
            raise DamagedError(f"{what} is missing")
        if status.length != expected["length"]:
            raise DamagedError(f"{what} has {status.length} bytes instead of {expected['length']}")
        if filesystem.sha256(path) != expected["sha256"]:
            raise DamagedError(f"{what} has a wrong checksum")
    except Py4JJavaError as error:
        raise DamagedError(f"{what} cannot be read ({explain_java_error(error)})") from None
