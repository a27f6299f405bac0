"""Refresh artifacts: find the changes, compute them, publish a version, register it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession

from spark_joinery.cause import one_line
from spark_joinery.errors import JoineryError
from spark_joinery.jobs.builders.bloom_filter import build_bloom_filter
from spark_joinery.jobs.builders.built import (
    Built,
    ColumnMissingError,
    ColumnUnusableError,
    DriftError,
    columns_of,
    spelled,
)
from spark_joinery.jobs.builders.corrupt_records import refuse_corrupt_records
from spark_joinery.jobs.builders.distribution import build_distribution
from spark_joinery.jobs.builders.range_index import build_range_index
from spark_joinery.jobs.changes import Appended, Rebuild, Unchanged, changes_since
from spark_joinery.jobs.reading import reads_whole_files
from spark_joinery.jobs.register import SchemaNameError, is_registered, register, view_name
from spark_joinery.jobs.source import Source, open_source
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec
from spark_joinery.store import (
    ArtifactStore,
    ArtifactVersion,
    PendingVersion,
    StoreNameError,
    StoreNotReadableError,
    permissions_of,
    validity_of,
)

log = logging.getLogger(__name__)

DEFAULT_SCHEMA = "joinery"


class ViewError(JoineryError):
    """A bloom filter or range index was asked for on a view."""


# errors of the declaration, or of a table that has to be altered: the next attempt would fail like the last one
_DECLARED_WRONG = (ColumnMissingError, ColumnUnusableError, SchemaNameError, StoreNameError, ViewError)


@dataclass(frozen=True)
class RefreshResult:
    """Result of one request.

    Attributes:
        relation: Identity of the relation.
        kind: Kind of artifact.
        status: "refreshed", "unchanged", "skipped" or "failed".
        reason: Why it was skipped, failed, or read as a whole although there was a version to start from.
        mode: "full" or "incremental", if refreshed.
        rows: Rows of the relation.
        keys: Distinct keys; estimated where there are many.
        hot_keys: Keys that are hot.
        seconds: Time it took.
        version: Name of the version in use now.
        table: Name under which it is registered.
        retryable: Whether the same refresh may succeed later, if it failed; None if it did not.
        was_damaged: Whether the version published before was damaged.
        unused: Why no query uses the current version, regardless of its source; None if queries may use it.
    """

    relation: str
    kind: str
    status: Literal["refreshed", "unchanged", "skipped", "failed"]
    reason: str | None = None
    mode: Literal["full", "incremental"] | None = None
    rows: int | None = None
    keys: int | None = None
    hot_keys: int | None = None
    seconds: float = 0.0
    version: str | None = None
    table: str | None = None
    retryable: bool | None = None
    was_damaged: bool = False
    unused: str | None = None


def refresh(
    spark: SparkSession,
    requests: Iterable[ArtifactRequest],
    store: ArtifactStore,
    *,
    schema: str | None = DEFAULT_SCHEMA,
    full_refresh: bool = False,
    on_result: Callable[[RefreshResult], None] = lambda result: None,
) -> list[RefreshResult]:
    """Refresh artifacts one after the other; one that fails does not stop the others.

    Args:
        spark: A session, classic or Spark Connect.
        requests: The artifacts to refresh.
        store: The store to publish them in.
        schema: Schema of the registered tables; None to register none.
        full_refresh: Read everything, also where nothing or little is new.
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
            result = refresh_artifact(spark, request, store, schema=schema, full_refresh=full_refresh)
        except Exception as error:
            # Spark and py4j raise many kinds of errors from user data, views and file systems: each fails this request
            log.warning("%s of %s failed", request.kind, request.relation, exc_info=True)
            seconds, retryable = time.monotonic() - started, not isinstance(error, _DECLARED_WRONG)
            result = RefreshResult(
                request.relation, request.kind, "failed", one_line(error), seconds=seconds, retryable=retryable
            )
        results.append(result)
        on_result(result)
    return results


@reads_whole_files
def refresh_artifact(
    spark: SparkSession,
    request: ArtifactRequest,
    store: ArtifactStore,
    *,
    schema: str | None = DEFAULT_SCHEMA,
    full_refresh: bool = False,
) -> RefreshResult:
    """Bring one artifact up to date: read new rows, publish a version in the store, register it.

    Args:
        spark: A session, classic or Spark Connect.
        request: The artifact to compute.
        store: The store to publish it in.
        schema: Schema in which distributions are registered as views, created if missing; None to register none.
        full_refresh: Read everything, also where nothing or little is new.

    Returns:
        The result. Its status is "refreshed", "unchanged" or "skipped". It is "unchanged" if the current version covers
        the source as it is. It is "skipped", with a reason, if the relation does not exist yet, or if no reader could
        ever tell whether the artifact is valid. A range index is also skipped if partitions share files.

    Raises:
        ColumnMissingError: If the relation lacks a column of the specification.
        ColumnUnusableError: If a column's type or name does not allow the artifact.
        ViewError: If the relation is a view, and the artifact is not a distribution.
        SourceError: If the relation cannot be read.
        StoreNotReadableError: If the version published last cannot be read now, but may be undamaged. It is only built
            again if `full_refresh` is set.
        StoreNotWritableError: If the store cannot be written. The former version stays in use.
        SchemaNameError: If `schema` cannot be the name of one.
        RegisterError: If the version is in the store, but the view cannot be created.

    Example:
        >>> request = ArtifactRequest.of_table("raw.flights", DistributionSpec(partition_by=["carrier"], order_by="ts"))
        >>> refresh_artifact(spark, request, open_store(spark, "/data/joinery")).table
        'joinery.dist_flights_1f0c2d3a'
    """
    started = time.monotonic()
    request = request.in_catalog(spark.catalog.currentCatalog())
    outcome = RefreshResult(request.relation, request.kind, "skipped")
    if schema and request.kind == "distribution":
        view_name(request, schema)  # raises for a wrong name before everything is read
    source = open_source(spark, request, store.filesystem)
    if source is None:
        return replace(outcome, reason=f"{request.sql_name} does not exist yet")
    if request.kind != "distribution" and not source.is_verifiable:
        if source.description is None:
            raise ViewError(
                f"{request.sql_name} is a view, and a {request.kind} of a view could never be proven valid: declare it "
                "on the table that the view reads."
            )
        reason = f"{request.sql_name} has neither files nor snapshots to tell whether a {request.kind} is still valid"
        return replace(outcome, reason=reason)

    published = store.current(request.kind, request.relation, request.spec_hash)
    is_damaged = published.damaged and not published.may_pass
    if published.damaged and not is_damaged and not full_refresh:
        raise StoreNotReadableError(
            f"What was published last cannot be read now, and may be whole ({published.reason}). Try again; if that "
            f"does not help, see to it that the files below {store.root} can be read, or ask for a full refresh."
        )
    # an older version may be undamaged and cover the source, but readers start at the version published last
    base = None if published.damaged else published.version
    change: Appended | Rebuild | Unchanged
    if is_damaged:
        change = Rebuild(f"what was published last cannot be used ({published.reason})")
    elif full_refresh:
        change = Rebuild("a full refresh was asked for")
    else:
        change = changes_since(spark, source, base)
        if base and not isinstance(change, Rebuild) and not _is_spelled(base, source, request):
            change = Rebuild("it names columns in other letters than its source, so no query finds it")
    if isinstance(change, Unchanged) and base:
        outcome, version = replace(outcome, status="unchanged"), base
    elif request.kind == "range_index" and source.shares_files():
        reason = f"partitions of {request.sql_name} share files, and an index could not tell how often each row is read"
        return replace(outcome, reason=reason)
    else:
        version, mode, why = _publish(source, request, store, base, change)
        # a full refresh that was asked for, and a first build, need no reason for reading all rows
        is_expected = not is_damaged and (full_refresh or base is None)
        outcome = replace(outcome, status="refreshed", mode=mode, reason=None if is_expected else why)
    table = None
    if schema and request.kind == "distribution":
        is_new = outcome.status == "refreshed" or not is_registered(spark, request, version, schema)
        table = register(spark, request, version, schema, create=is_new)
    validity = validity_of(version, None)
    return replace(
        outcome,
        was_damaged=is_damaged,
        unused=validity.reason if validity.usable is False else None,
        rows=version.description.get("rows"),
        keys=version.description.get("keys"),
        hot_keys=version.description.get("hot_keys"),
        version=version.name,
        table=table,
        seconds=time.monotonic() - started,
    )


def _is_spelled(version: ArtifactVersion, source: Source, request: ArtifactRequest) -> bool:
    """Whether a version names its columns as the source does. A version of an older release has the declared names."""
    held = version.description.get("spec") or {}
    return columns_of(held) == columns_of(spelled(source.frame, request.spec, source.name).model_dump(mode="json"))


def _publish(
    source: Source,
    request: ArtifactRequest,
    store: ArtifactStore,
    base: ArtifactVersion | None,
    change: Appended | Rebuild | Unchanged,
) -> tuple[ArtifactVersion, Literal["full", "incremental"], str | None]:
    """Build a version, from the new rows if possible, and make it the current one."""
    started = time.monotonic()
    reason = change.reason if isinstance(change, Rebuild) else None
    mode = permissions_of(source.listing, store.root)
    if isinstance(change, Appended):
        pending = store.begin(request.kind, request.relation, request.spec_hash, mode)
        try:
            built = _build(change.rows, source, request, store, pending, base)
            return _finish(source, request, store, pending, built, base, started), "incremental", None
        except DriftError as drift:
            _abandon(store, pending)
            reason = str(drift)
            log.info("%s of %s is built again: %s", request.kind, request.relation, reason)
        except BaseException:
            _abandon(store, pending)
            raise
    source = source.without_late_files()
    pending = store.begin(request.kind, request.relation, request.spec_hash, mode)
    try:
        built = _build(source.frame, source, request, store, pending, None)
        return _finish(source, request, store, pending, built, None, started), "full", reason
    except BaseException:
        _abandon(store, pending)
        raise


def _abandon(store: ArtifactStore, pending: PendingVersion) -> None:
    """Delete a version that was begun. A failure is not raised, because it would hide the error of the build."""
    try:
        store.abandon(pending)
    except Exception as error:
        # the cause that stopped the build may stop this, too; `joinery vacuum` removes the rest
        log.warning("%s is left behind: %s", pending.path, one_line(error))


def _build(
    rows: DataFrame,
    source: Source,
    request: ArtifactRequest,
    store: ArtifactStore,
    pending: PendingVersion,
    base: ArtifactVersion | None,
) -> Built:
    """Have the builder of the kind write the version's files."""
    spec = request.spec
    if isinstance(spec, DistributionSpec):
        return build_distribution(rows, spec, source.name, pending, store.filesystem, base)
    if isinstance(spec, BloomFilterSpec):
        if source.description:
            provider, options = source.description["provider"], source.description["options"]
            refuse_corrupt_records(rows, spec, source.name, provider, options, source.settings)
        return build_bloom_filter(rows, spec, source.name, pending, base)
    return build_range_index(rows, spec, source.name, pending, store.filesystem, base)


def _finish(
    source: Source,
    request: ArtifactRequest,
    store: ArtifactStore,
    pending: PendingVersion,
    built: Built,
    base: ArtifactVersion | None,
    started: float,
) -> ArtifactVersion:
    """Publish a version that was built."""
    details: dict[str, Any] = {
        **{name: value for name, value in asdict(built).items() if name != "details" and value is not None},
        **built.details,
        "spec": spelled(source.frame, request.spec, source.name).model_dump(mode="json", exclude_none=True),
        "sql_name": request.sql_name,
        "source": source.description,
        "settings": source.settings,
        "built_from": base.name if base else None,
        "seconds": round(time.monotonic() - started, 3),
    }
    return store.publish(pending, source.fingerprint(is_increment=base is not None), details)
