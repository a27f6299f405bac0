"""Read a report's figures from the artifact store."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

from spark_joinery.errors import JoineryError
from spark_joinery.report.distribution import read_distribution
from spark_joinery.report.model import Report, ReportedArtifact
from spark_joinery.store import Sources, is_named, list_artifacts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_joinery.store import ArtifactStore, ArtifactVersion

log = logging.getLogger(__name__)

_REQUIRED = {
    "distribution": ("spec", "rows", "hot_keys"),
    "bloom_filter": ("spec", "keys", "blocks", "fpp", "expected_fpp"),
    "range_index": ("spec", "rows", "runs", "sorted_by"),
}


class NotInStoreError(JoineryError):
    """A name that no relation of the store has."""


def read_report(spark: SparkSession, store: ArtifactStore, names: Collection[str] = ()) -> Report:
    """Read the artifacts of a store, the figures of its distributions, and the sources as they are now.

    An artifact that is damaged or cannot be read is part of the report, with the reason. A source that the session does
    not see is no error either.

    Args:
        spark: A session, preferably one whose catalog has the sources.
        store: The store.
        names: Relations to report on, by any of their names; none means all.

    Returns:
        The report, not redacted.

    Raises:
        NotInStoreError: If nothing in the store has such a name.

    Example:
        >>> report = read_report(spark, open_store(spark, "/data/joinery"), ["flights"])
    """
    from spark_joinery.jobs.source_now import source_now

    artifacts = list_artifacts(store)
    relations = sorted({artifact.relation for artifact in artifacts})
    for name in names:
        if not any(is_named(relation, name) for relation in relations):
            known = ", ".join(relations) or "none at all"
            raise NotInStoreError(f"Nothing in {store.root} is named '{name}'. Its relations: {known}.")
    sources = Sources(partial(source_now, spark, store.filesystem), _condition)
    found = []
    for stored in artifacts:
        if names and not any(is_named(stored.relation, name) for name in names):
            continue
        lookup = store.current(stored.kind, stored.relation, stored.spec_hash)
        artifact = ReportedArtifact(stored.kind, stored.relation, stored.spec_hash, problem=lookup.reason)
        if lookup.version:
            found.append(_read(spark, sources, artifact, lookup.version))
        elif lookup.damaged:
            found.append(artifact)
        # else its first refresh has not ended yet
    now = datetime.now(timezone.utc)
    return Report(store.root, tuple(found), now, str(spark.conf.get("spark.sql.session.timeZone")))


def _read(
    spark: SparkSession, sources: Sources, artifact: ReportedArtifact, version: ArtifactVersion
) -> ReportedArtifact:
    """Add the content of a version."""
    # None stands for a value that an older release did not know
    known = {name: value for name, value in version.description.items() if value is not None}
    missing = [name for name in _REQUIRED[artifact.kind] if name not in known]
    if missing:
        return replace(artifact, problem=f"version {version.name}: version.json has no '{missing[0]}'")
    validity, coverage = sources.compare(artifact.relation, version)
    artifact = replace(artifact, description=known, validity=validity, coverage=coverage)
    return _with_data(spark, artifact, version.data_path, known) if artifact.kind == "distribution" else artifact


def _with_data(
    spark: SparkSession, artifact: ReportedArtifact, path: str, description: Mapping[str, Any]
) -> ReportedArtifact:
    """Add the figures in the files of a distribution."""
    try:
        return replace(artifact, distribution=read_distribution(spark, path, description))
    except Exception as error:
        # Spark raises many kinds of errors for damaged files; the other artifacts are still worth a report
        log.warning("%s cannot be read", path, exc_info=True)
        return replace(artifact, problem=f"its data cannot be read ({_condition(error)})")


def _condition(error: Exception) -> str:
    """Name an error without its message, which may quote data that `--redact` must hide."""
    return str(getattr(error, "getCondition", lambda: None)() or type(error).__name__)
