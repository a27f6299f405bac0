"""The artifacts that a store holds, and the names by which users ask for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import get_args

from spark_joinery.metadata import RelationNameError, path_identity, quote_name, split_name
from spark_joinery.metadata.identity import FILE_FORMATS, SESSION_CATALOG
from spark_joinery.metadata.models import Kind
from spark_joinery.store import layout
from spark_joinery.store.artifact_store import ArtifactStore
from spark_joinery.store.lookup import complete_versions
from spark_joinery.store.verify import DamagedError, read_version

# Folders of the root that hold artifacts. Other folders are not Joinery's, or belong to a newer release.
KINDS: tuple[str, ...] = get_args(Kind)
# Identities of paths begin with a scheme. Identities of tables never do: they have such a part in backticks.
_PATH = re.compile(r"[a-z][a-z0-9+.-]*:/")


@dataclass(frozen=True)
class Artifact:
    """One artifact of a store.

    Attributes:
        kind: Kind of artifact.
        relation: Identity of the relation.
        spec_hash: Hash of the specification.
        folder: Folder of the artifact, with its versions.
    """

    kind: str
    relation: str
    spec_hash: str
    folder: str


def list_artifacts(store: ArtifactStore, kinds: Collection[str] = KINDS, names: Collection[str] = ()) -> list[Artifact]:
    """Find the artifacts of a store.

    Args:
        store: The store.
        kinds: Only these kinds.
        names: Only these relations, see `is_named`; none means all.

    Returns:
        The artifacts, sorted by relation, kind and specification. Artifacts without a usable version are included.

    Raises:
        OSError: If the store cannot be read.
    """
    found = (artifact for kind in kinds for artifact in _of_kind(store, kind))
    wanted = (each for each in found if not names or any(is_named(each.relation, name) for name in names))
    return sorted(wanted, key=lambda each: (each.relation, each.kind, each.spec_hash))


def is_named(relation: str, name: str) -> bool:
    """Whether a user means this relation.

    Args:
        relation: Identity of the relation.
        name: `table`, `schema.table` or `catalog.schema.table`. The table's own name needs no backticks, even with odd
            characters. For a path: the path or URI, also as in SQL: "parquet.`/data/flights`".

    Example:
        >>> is_named("spark_catalog.raw.flights", "Flights")
        True
    """
    if name == relation:
        return True
    if _PATH.match(relation):
        return _path_named(name) == relation
    try:
        parts = split_name(relation)
        if parts[-1] in (name, name.lower()):
            return True
        wanted = split_name(name)
    except RelationNameError:
        return False
    tail = parts[-len(wanted) :]
    return tail in (wanted, tuple(part.lower() for part in wanted))


def _path_named(name: str) -> str | None:
    """The identity of a path that a user writes alone or after its format; None if the name is no path."""
    with suppress(RelationNameError):
        match split_name(name):
            case (file_format, path) if file_format.lower() in FILE_FORMATS:
                name = path
    with suppress(RelationNameError):
        return path_identity(name)
    return None


def may_be(declared: str, relation: str) -> bool:
    """Whether a declaration may be that of this relation.

    Args:
        declared: Identity of a relation, from a manifest. It has Spark's own catalog if the manifest names none,
            although the session that refreshes may have another default catalog.
        relation: Identity of a relation, from the store.

    Example:
        >>> may_be("spark_catalog.lake.flights", "ice.lake.flights")
        True
    """
    if declared == relation:
        return True
    catalog, _, name = declared.partition(".")
    try:
        elsewhere = split_name(relation)
    except RelationNameError:
        return False
    return catalog == SESSION_CATALOG and quote_name(*elsewhere[1:]).lower() == name


def _of_kind(store: ArtifactStore, kind: str) -> Iterator[Artifact]:
    filesystem = store.filesystem
    for relation in filesystem.list(f"{store.root}/{kind}"):
        for specification in filesystem.list(relation.path):
            if specification.is_folder and re.fullmatch(layout.SPEC_HASH, specification.name):
                identity = layout.relation_of(relation.name) or _relation_within(store, specification.path)
                yield Artifact(kind, identity or relation.name, specification.name, specification.path)


def _relation_within(store: ArtifactStore, folder: str) -> str | None:
    """Read the identity of a relation from a version. Folders of long names are shortened, and do not show it."""
    for name in complete_versions(store.filesystem, folder):
        try:
            return str(read_version(store.filesystem, folder, name, verify="length").description["relation"])
        except DamagedError:
            continue
    return None
