"""Folders and names of files of an artifact below the store's root.

<root>/<kind>/<relation folder>/<specification hash>/
    _current.json                 the version in use
    versions/<version>/data/      Parquet, never changed
    versions/<version>/state/     Parquet too, for kinds that merge it with new rows at the next refresh
    versions/<version>/version.json
"""

from __future__ import annotations

import hashlib
import re
import uuid
from datetime import datetime, timezone

from spark_joinery.store.errors import StoreNameError

CURRENT = "_current.json"
VERSIONS = "versions"
DATA = "data"
STATE = "state"
MANIFEST = "version.json"

# Pattern of specification hashes, see `spark_joinery.metadata.spec_hash`.
SPEC_HASH = "[0-9a-f]{8,64}"

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_.")
_LONGEST = 180
_BEGUN = "%Y%m%dT%H%M%S%f"


def relation_folder(relation: str) -> str:
    """Name the folder of a relation; different relations never share one, and none lies outside the store.

    The characters a-z, 0-9, `_` and `.` stay. All others become `~` and two hex digits for each UTF-8 byte. A `.` or
    `_` in front is encoded, too, because Hadoop hides such files. Capitals are encoded because some file systems do not
    tell them from small letters. `%` would be the usual sign, but Spark and Hadoop disagree on who decodes it. A name
    that is too long for file systems ends in a hash instead.

    Args:
        relation: Identity, see `spark_joinery.metadata.relation_identity`.

    Returns:
        The folder's name, at most 180 ASCII characters.

    Raises:
        StoreNameError: If the identity is empty or contains a NUL.

    Example:
        >>> relation_folder("spark_catalog.raw.flights")
        'spark_catalog.raw.flights'
        >>> relation_folder("file:/data/..")
        'file~3a~2fdata~2f..'
    """
    if not relation or "\0" in relation:
        raise StoreNameError(f"{relation!r} is not the identity of a relation: expected catalog.schema.table or a URI.")
    raw = relation.encode()
    name = "".join(
        chr(byte) if byte in _PLAIN and not (at == 0 and byte in b"._") else f"~{byte:02x}"
        for at, byte in enumerate(raw)
    )
    if len(name) <= _LONGEST:
        return name
    # "~~" cannot come out of the encoding above, so a shortened name never equals a full one
    return f"{name[: _LONGEST - 34]}~~{hashlib.sha256(raw).hexdigest()[:32]}"


def relation_of(folder: str) -> str | None:
    """Tell which relation a folder belongs to.

    Args:
        folder: Name made by `relation_folder`.

    Returns:
        The relation's identity; None if the name was shortened, or `relation_folder` did not make it.

    Example:
        >>> relation_of("file~3a~2fdata~2f..")
        'file:/data/..'
    """
    raw = re.sub(rb"~([0-9a-f]{2})", lambda code: bytes([int(code[1], 16)]), folder.encode())
    try:
        relation = raw.decode()
        return relation if relation_folder(relation) == folder else None
    except (UnicodeDecodeError, StoreNameError):
        return None


def artifact_folder(kind: str, relation: str, spec_hash: str) -> str:
    """Folder of an artifact, relative to the store's root.

    Args:
        kind: Kind of artifact.
        relation: Identity of the relation.
        spec_hash: See `spark_joinery.metadata.spec_hash`.

    Returns:
        A relative path with `/`.

    Raises:
        StoreNameError: If one of the three cannot name a folder.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", kind):
        raise StoreNameError(f"{kind!r} is not a kind of artifact: expected small letters, digits and _.")
    if not re.fullmatch(SPEC_HASH, spec_hash):
        raise StoreNameError(f"{spec_hash!r} is not a specification hash: expected hex digits.")
    return f"{kind}/{relation_folder(relation)}/{spec_hash}"


def new_version_name() -> str:
    """Name a version. Names sort by time, and two writers never choose the same one."""
    return f"{datetime.now(timezone.utc):{_BEGUN}}Z-{uuid.uuid4().hex[:8]}"


def begun_ms(version: str) -> int:
    """The time at which a version was begun, by the clock of the machine that wrote it.

    Args:
        version: Its name.

    Returns:
        Milliseconds since 1970; 0 if the name is not one of `new_version_name`.

    Example:
        >>> begun_ms("20260101T000000000000Z-0a1b2c3d")
        1767225600000
    """
    try:
        begun = datetime.strptime(version.partition("Z-")[0], _BEGUN)
    except ValueError:
        return 0
    return round(begun.replace(tzinfo=timezone.utc).timestamp() * 1000)
