"""Read a report's figures from the artifact store."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from spark_joinery.errors import JoineryError
from spark_joinery.metadata import RelationNameError, split_name
from spark_joinery.report.distribution import read_distribution
from spark_joinery.report.model import KINDS, Artifact, Report
from spark_joinery.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

    from spark_joinery.store import ArtifactStore, FileStatus

log = logging.getLogger(__name__)

_REQUIRED = {
    "distribution": ("spec", "rows", "hot_keys"),
    "bloom_filter": ("spec", "keys", "blocks", "fpp", "expected_fpp"),
    "range_index": ("spec", "rows", "runs", "sorted_by"),
}


class NotInStoreError(JoineryError):
    """A name that no relation of the store has."""


def read_report(spark: SparkSession, store: ArtifactStore, names: Iterable[str] = ()) -> Report:
    """Read what the store holds, and what is in its distributions.

    An artifact that is damaged or cannot be read is part of the report, with the reason.

    Args:
        spark: A classic session.
        store: The store.
        names: Identities or plain names of relations to report on; none means all.

    Returns:
        The report, not redacted.

    Raises:
        NotInStoreError: If nothing in the store has such a name.

    Example:
        >>> report = read_report(spark, open_store(spark, "/data/joinery"), ["flights"])
    """
    found = list(_artifacts(store))
    wanted = set(names)
    if unknown := wanted - {name for artifact in found for name in _names(artifact.relation)}:
        known = ", ".join(sorted({artifact.relation for artifact in found})) or "no artifacts at all"
        raise NotInStoreError(f"Nothing in {store.root} is named '{min(unknown)}'. There are: {known}.")
    chosen = [artifact for artifact in found if not wanted or _names(artifact.relation) & wanted]
    return Report(
        store=store.root,
        artifacts=tuple(
            _with_data(spark, store, artifact)
            for artifact in sorted(chosen, key=lambda one: (one.relation, one.kind, one.spec_hash))
        ),
        generated_at=datetime.now(timezone.utc),
        time_zone=str(spark.conf.get("spark.sql.session.timeZone")),
    )


def _artifacts(store: ArtifactStore) -> Iterator[Artifact]:
    """Find every artifact of the store."""
    for kind in KINDS:
        for relation in store.filesystem.list(f"{store.root}/{kind}"):
            for spec in store.filesystem.list(relation.path):
                if re.fullmatch("[0-9a-f]{8,64}", spec.name):
                    yield _artifact(store, kind, relation.name, spec)


def _artifact(store: ArtifactStore, kind: str, relation_folder: str, folder: FileStatus) -> Artifact:
    """Look an artifact up; a folder's name cannot always be turned back into a relation, so `version.json` is asked."""
    reason = "nothing has been published yet"
    for version in reversed(store.filesystem.list(f"{folder.path}/{layout.VERSIONS}")):
        manifest = f"{version.path}/{layout.MANIFEST}"
        if store.filesystem.status(manifest) is None:
            continue
        try:
            relation = str(json.loads(store.filesystem.read(manifest))["relation"])
        except (ValueError, KeyError, TypeError):
            reason = "no version of it can be read"
            continue
        lookup = store.current(kind, relation, folder.name)
        artifact = Artifact(kind, relation, folder.name, problem=lookup.reason)
        return _described(artifact, lookup.version.description) if lookup.version else artifact
    return Artifact(kind, _relation_of(relation_folder), folder.name, problem=reason)


def _described(artifact: Artifact, description: Mapping[str, Any]) -> Artifact:
    """Add the content of `version.json`, if it says what the page needs; older releases wrote less."""
    known = {key: value for key, value in description.items() if value is not None}
    missing = [key for key in _REQUIRED[artifact.kind] if key not in known]
    if missing:
        return replace(artifact, problem=f"{layout.MANIFEST} has no '{missing[0]}'")
    return replace(artifact, description=known)


def _relation_of(folder: str) -> str:
    """The identity that a folder was named after, cut off where it was too long; see `relation_folder`."""
    readable, _, _ = folder.partition("~~")
    escaped = re.sub("~([0-9a-f]{2})", r"%\1", readable.replace("%", "%25"))
    return unquote(escaped) or folder


def _with_data(spark: SparkSession, store: ArtifactStore, artifact: Artifact) -> Artifact:
    """Add what is in the files of a distribution."""
    if artifact.kind != "distribution" or not artifact.description:
        return artifact
    folder = layout.artifact_folder(artifact.kind, artifact.relation, artifact.spec_hash)
    path = f"{store.root}/{folder}/{layout.VERSIONS}/{artifact.description['version']}/{layout.DATA}"
    try:
        return replace(artifact, distribution=read_distribution(spark, path, artifact.description))
    except Exception as error:
        # whatever Spark makes of files that somebody else wrote: the others are still worth a report
        log.warning("%s cannot be read", path, exc_info=True)
        # the message may quote data, which `--redact` must hide; the name of the condition does not
        condition = getattr(error, "getCondition", lambda: None)() or type(error).__name__
        return replace(artifact, problem=f"its data cannot be read ({condition})")


def _names(relation: str) -> set[str]:
    """What a user may call a relation: its identity, without Spark's own catalog, or the table alone."""
    try:
        return {relation, relation.removeprefix("spark_catalog."), split_name(relation)[-1]}
    except RelationNameError:  # a path
        return {relation, relation.removeprefix("file:")}
