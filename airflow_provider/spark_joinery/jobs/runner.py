"""Refresh artifacts: compute, publish, register."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from spark_joinery.errors import JoineryError
from spark_joinery.jobs.skew import skew_distribution
from spark_joinery.metadata import ArtifactRequest, DistributionSpec, artifact_table_name, quote_name, split_name
from spark_joinery.store import ArtifactStore, ArtifactVersion, fingerprint, list_source, permissions_of

log = logging.getLogger(__name__)

DEFAULT_SCHEMA = "joinery"


class RefreshError(JoineryError):
    """An artifact could not be refreshed. The former version stays in use."""


@dataclass(frozen=True)
class RefreshResult:
    """What became of one request.

    Attributes:
        relation: Identity of the relation.
        kind: Kind of artifact.
        status: "refreshed", "skipped" or "failed".
        reason: Why it was skipped or failed.
        rows: Rows of the relation.
        keys: Distinct keys.
        hot_keys: Keys that are hot.
        seconds: Time it took.
        version: Name of the new version.
        table: Name under which it is registered.
    """

    relation: str
    kind: str
    status: Literal["refreshed", "skipped", "failed"]
    reason: str | None = None
    rows: int | None = None
    keys: int | None = None
    hot_keys: int | None = None
    seconds: float = 0.0
    version: str | None = None
    table: str | None = None


def refresh(
    spark: SparkSession,
    requests: Iterable[ArtifactRequest],
    store: ArtifactStore,
    *,
    schema: str | None = DEFAULT_SCHEMA,
    on_result: Callable[[RefreshResult], None] = lambda result: None,
) -> list[RefreshResult]:
    """Refresh artifacts one after the other; one that fails does not stop the others.

    Args:
        spark: A classic session.
        requests: What to refresh.
        store: Where to.
        schema: Schema of the registered tables; None to register none.
        on_result: Called after each request.

    Returns:
        One result per request, in their order.

    Example:
        >>> results = refresh(spark, read_manifest("target/manifest.json").requests, open_store(spark, "/data/joinery"))
    """
    results = []
    for request in requests:
        started = time.monotonic()
        try:
            result = refresh_distribution(spark, request, store, schema=schema)
        except Exception as error:
            # Spark and py4j raise whatever user data, views and file systems make them: each is this request's failure
            log.warning("%s of %s failed", request.kind, request.relation, exc_info=True)
            result = RefreshResult(
                request.relation, request.kind, "failed", _one_line(error), seconds=time.monotonic() - started
            )
        results.append(result)
        on_result(result)
    return results


def refresh_distribution(
    spark: SparkSession, request: ArtifactRequest, store: ArtifactStore, *, schema: str | None = DEFAULT_SCHEMA
) -> RefreshResult:
    """Compute the skew distribution of a relation, publish it in the store, and register it as a view.

    Args:
        spark: A classic session.
        request: What to compute. Other kinds of artifact are skipped.
        store: Where to.
        schema: Schema of the view, created if missing; None to register none.

    Returns:
        "refreshed"; or "skipped" with a reason if the relation does not exist yet.

    Raises:
        ColumnMissingError: If the relation lacks a column of the specification.
        ColumnUnusableError: If a column's type or name does not allow a distribution.
        StoreNotWritableError: If the store cannot be written.
        RefreshError: If the relation cannot be read, or the view cannot be created.

    Example:
        >>> request = ArtifactRequest.of_table("raw.flights", DistributionSpec(partition_by=["carrier"], order_by="ts"))
        >>> refresh_distribution(spark, request, open_store(spark, "/data/joinery")).table
        'joinery.dist_flights_1f0c2d3a'
    """
    started = time.monotonic()
    spec = request.spec
    if not isinstance(spec, DistributionSpec):
        return RefreshResult(request.relation, request.kind, "skipped", f"no job for {request.kind} yet")
    frame = _open(spark, request)
    if frame is None:
        return RefreshResult(request.relation, request.kind, "skipped", f"{request.sql_name} does not exist yet")

    before = list_source(frame, store.filesystem)
    with skew_distribution(frame, spec, request.sql_name) as distribution:
        pending = store.begin(request.kind, request.relation, request.spec_hash, permissions_of(before))
        try:
            distribution.table.write.parquet(pending.data_path)
            covered = fingerprint(before, list_source(frame, store.filesystem))
            details = {
                "spec": spec.model_dump(mode="json", exclude_none=True),
                "rows": distribution.rows,
                "keys": distribution.keys,
                "hot_keys": distribution.hot_keys,
            }
            version = store.publish(pending, covered, details)
        except Exception:
            store.abandon(pending)
            raise
    return RefreshResult(
        request.relation,
        request.kind,
        "refreshed",
        rows=distribution.rows,
        keys=distribution.keys,
        hot_keys=distribution.hot_keys,
        table=_register(spark, request, version, schema) if schema else None,
        version=version.name,
        seconds=time.monotonic() - started,
    )


def _open(spark: SparkSession, request: ArtifactRequest) -> DataFrame | None:
    """Open a relation; None if it does not exist."""
    try:
        return spark.table(request.sql_name)
    except AnalysisException as error:
        if _is_missing(error, request):
            return None
        raise RefreshError(f"{request.sql_name} cannot be read: {_one_line(error)}") from error


def _is_missing(error: AnalysisException, request: ArtifactRequest) -> bool:
    """Whether Spark missed the relation itself, rather than a table that a view names or the files of a table."""
    *schema, name = split_name(request.sql_name)
    missed = error.getMessageParameters() or {}
    match error.getCondition():
        case "TABLE_OR_VIEW_NOT_FOUND":
            return _last_part(missed["relationName"]) == name.lower()
        case "SCHEMA_NOT_FOUND":
            return bool(schema) and _last_part(missed["schemaName"]) == schema[-1].lower()
        case "PATH_NOT_FOUND":
            return ":/" in request.relation
    return False


def _last_part(name: str) -> str:
    return split_name(name)[-1].lower()


def _register(spark: SparkSession, request: ArtifactRequest, version: ArtifactVersion, schema: str) -> str:
    """Point the view at a version. Readers see the former or the new one, as a view is replaced as a whole."""
    name = quote_name(*split_name(schema), artifact_table_name(request))
    path = version.data_path.replace("`", "``")
    comment = f"Joinery: skew distribution of {request.relation}, built {version.description['built_at']}"
    try:
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {quote_name(*split_name(schema))}")
        spark.sql(f"CREATE OR REPLACE VIEW {name} COMMENT {_literal(comment)} AS SELECT * FROM parquet.`{path}`")
    except PySparkException as error:
        raise RefreshError(
            f"Version {version.name} is in the store, but the view {name} could not be created: {_one_line(error)}"
        ) from error
    return name


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _one_line(error: Exception) -> str:
    """The first line of an error's text; Spark's go on with plans and stack traces."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
