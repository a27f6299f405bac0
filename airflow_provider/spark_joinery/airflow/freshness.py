"""Check without Spark whether artifacts are in the store and young enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from typing import Any

from spark_joinery.metadata import ArtifactRequest
from spark_joinery.store import (
    ArrowFileSystem,
    Artifact,
    ArtifactStore,
    Lookup,
    list_artifacts,
    may_be,
    validity_of,
)


@dataclass(frozen=True)
class ArtifactKey:
    """
    The place of an artifact in its store.

    :param kind: kind of artifact
    :param relation: identity of the relation
    :param spec_hash: hash of the specification
    """

    kind: str
    relation: str
    spec_hash: str

    @classmethod
    def of(cls, request: ArtifactRequest) -> ArtifactKey:
        """
        Find the place of the artifact that a request makes.

        :param request: the request
        :return: the place
        """
        return cls(request.kind, request.relation, request.spec_hash)

    def __str__(self) -> str:
        return f"{self.kind} of {self.relation}"


def problems_of(store: str, keys: Iterable[ArtifactKey], max_age_s: float | None) -> dict[str, str]:
    """
    Find the artifacts that are not fresh, each with the reason.

    :param store: directory of the store
    :param keys: the artifacts
    :param max_age_s: age in seconds up to which an artifact is fresh; None for any age
    :return: the reasons, by the artifact as text
    :raises OSError: if the store cannot be read
    """
    opened = ArtifactStore(store, ArrowFileSystem())
    # raises if the store is out of reach: a lookup would call its artifacts damaged, and the wait would have no end
    opened.filesystem.status(opened.root)
    now = datetime.now(timezone.utc)

    @cache
    def stored(kind: str) -> list[Artifact]:
        # reads every folder of the store, so it is only called if an artifact is missing, and once for all of its kind
        return list_artifacts(opened, [kind])

    found = {key: _problem(opened, stored, key, max_age_s, now) for key in keys}
    return {str(key): problem for key, problem in found.items() if problem}


def _problem(
    store: ArtifactStore,
    stored: Callable[[str], list[Artifact]],
    key: ArtifactKey,
    max_age_s: float | None,
    now: datetime,
) -> str | None:
    lookup = store.current(key.kind, key.relation, key.spec_hash, verify="length")
    if lookup.version is None and not lookup.damaged:
        elsewhere = _elsewhere(store, stored(key.kind), key)
        if len(elsewhere) > 1:
            return (
                f"the store has it of several catalogs, {' and '.join(elsewhere)}, and the manifest names none: delete "
                "what is no longer refreshed, or give each catalog a store of its own"
            )
        lookup = next(iter(elsewhere.values()), lookup)
    if lookup.damaged or lookup.version is None:
        return lookup.reason
    validity = validity_of(lookup.version, None)
    if validity.usable is False:
        return f"no query uses it: {validity.reason}"
    age = (now - _built_at(lookup.version.description)).total_seconds()
    if max_age_s is not None and age > max_age_s:
        return f"it was built {age:,.0f} s ago, expected at most {max_age_s:,.0f} s"
    return None


def _elsewhere(store: ArtifactStore, stored: Iterable[Artifact], key: ArtifactKey) -> dict[str, Lookup]:
    """Look for an artifact in other catalogs: a declaration does not say which one is current for the refresh."""
    relations = [each.relation for each in stored if each.spec_hash == key.spec_hash]
    found = {
        relation: store.current(key.kind, relation, key.spec_hash, verify="length")
        for relation in relations
        if relation != key.relation and may_be(key.relation, relation)
    }
    return {relation: lookup for relation, lookup in found.items() if lookup.version or lookup.damaged}


def _built_at(description: Any) -> datetime:
    return datetime.fromisoformat(str(description["built_at"]).replace("Z", "+00:00"))
