"""From a relation to a published version and its view."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_joinery.jobs import refresh, refresh_distribution
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, HotKeys, artifact_table_name
from spark_joinery.store import ArtifactStore, fingerprint, list_source, open_store, permissions_of

SPEC = DistributionSpec(partition_by=["carrier"], order_by="departs_at", quantiles=2, hot=HotKeys(min_rows=3))


@pytest.fixture(scope="module")
def flights(spark: SparkSession) -> Iterator[ArtifactRequest]:
    """A table of four flights, three of them by UA."""
    rows = [("UA", dt.datetime(2013, 1, day)) for day in (1, 2, 3)] + [("AA", dt.datetime(2013, 1, 1))]
    spark.sql("CREATE SCHEMA IF NOT EXISTS refresh_test")
    frame = spark.createDataFrame(rows, "carrier string, departs_at timestamp")
    frame.coalesce(1).write.mode("overwrite").saveAsTable("refresh_test.flights")
    yield ArtifactRequest.of_table("refresh_test.flights", SPEC)
    spark.sql("DROP SCHEMA refresh_test CASCADE")
    spark.sql("DROP SCHEMA IF EXISTS joinery CASCADE")


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> ArtifactStore:
    return open_store(spark, str(tmp_path / "a store"))


def test_a_refresh_publishes_and_registers(spark: SparkSession, flights: ArtifactRequest, store: ArtifactStore) -> None:
    for _ in range(2):
        result = refresh_distribution(spark, flights, store)
    assert (result.status, result.reason, result.rows, result.keys, result.hot_keys) == ("refreshed", None, 4, 2, 1)
    assert result.table == f"joinery.{artifact_table_name(flights)}"
    table = spark.table(result.table)
    assert [(f.name, f.dataType.simpleString()) for f in table.schema] == [
        ("carrier", "string"),
        ("row_count", "bigint"),
        ("is_hot", "boolean"),
        ("quantiles", "array<timestamp>"),
    ]
    rows = sorted(map(tuple, table.collect()))
    assert rows == [("AA", 1, False, None), ("UA", 3, True, [dt.datetime(2013, 1, 2)])]

    lookup = store.current("distribution", flights.relation, flights.spec_hash)
    assert lookup.version is not None
    assert lookup.version.name == result.version
    assert sorted(map(tuple, spark.read.parquet(lookup.version.data_path).collect())) == rows
    assert lookup.version.description["rows"] == 4


def test_one_failure_does_not_stop_the_others(
    spark: SparkSession, flights: ArtifactRequest, store: ArtifactStore
) -> None:
    requests = [
        ArtifactRequest.of_table("refresh_test.later", SPEC),
        ArtifactRequest.of_table("no_such_schema.t", SPEC),
        ArtifactRequest.of_table("parquet.`/no/such/path`", SPEC),
        ArtifactRequest.of_table("refresh_test.flights", BloomFilterSpec(keys=["carrier"])),
        ArtifactRequest.of_table("refresh_test.flights", SPEC.model_copy(update={"order_by": "nope"})),
        flights,
    ]
    seen = []
    results = refresh(spark, requests, store, schema=None, on_result=seen.append)
    assert seen == results
    assert [result.status for result in results] == ["skipped"] * 4 + ["failed", "refreshed"]
    assert [result.reason for result in results] == [
        "refresh_test.later does not exist yet",
        "no_such_schema.t does not exist yet",
        "parquet.`/no/such/path` does not exist yet",
        "no job for bloom_filter yet",
        "refresh_test.flights has no column 'nope'. Its columns are: carrier, departs_at.",
        None,
    ]
    assert results[-1].table is None


def test_a_view_over_a_dropped_table_is_a_failure(spark: SparkSession, store: ArtifactStore, tmp_path: Path) -> None:
    spark.sql("CREATE TABLE default.refreshed_base (carrier string, departs_at timestamp) USING parquet")
    spark.sql("CREATE VIEW default.refreshed_view AS SELECT * FROM default.refreshed_base")
    spark.sql("DROP TABLE default.refreshed_base")
    (result,) = refresh(spark, [ArtifactRequest.of_table("default.refreshed_view", SPEC)], store)
    spark.sql("DROP VIEW default.refreshed_view")
    assert result.status == "failed"
    assert "default.refreshed_view cannot be read" in str(result.reason)


def test_a_failed_refresh_leaves_nothing_behind(spark: SparkSession, store: ArtifactStore, tmp_path: Path) -> None:
    """Spark notices the damaged source only while it runs."""
    source = tmp_path / "source"
    spark.range(10).selectExpr("'a' carrier", "id departs_at").coalesce(1).write.parquet(str(source))
    request = ArtifactRequest.of_table(f"parquet.`{source}`", SPEC)
    assert refresh(spark, [request], store, schema=None)[0].status == "refreshed"
    before = store.current("distribution", request.relation, request.spec_hash)
    (file,) = source.glob("*.parquet")
    file.write_bytes(file.read_bytes()[:40] + bytes(200) + file.read_bytes()[240:])
    (source / f".{file.name}.crc").unlink()
    (result,) = refresh(spark, [request], store, schema=None)
    assert result.status == "failed"
    assert store.current("distribution", request.relation, request.spec_hash) == before
    assert before.version is not None
    assert [p.name for p in Path(before.version.path.removeprefix("file:")).parent.iterdir()] == [before.version.name]


def test_the_fingerprint_lists_settled_files_only(spark: SparkSession, store: ArtifactStore, tmp_path: Path) -> None:
    source = tmp_path / "a b%20c"
    spark.range(4).repartition(2).write.parquet(str(source))
    frame = spark.read.parquet(str(source))
    before = list_source(frame, store.filesystem)
    assert [f.path for f in before.files] == sorted(f"file:{path}" for path in source.glob("*.parquet"))
    assert fingerprint(before, before)["files"] == []
    settled = fingerprint(before, before, settle_ms=-60_000)
    assert [f["length"] for f in settled["files"]] == [f.length for f in before.files]
    with Path(before.files[0].path.removeprefix("file:")).open("ab") as file:
        file.write(b"x")
    changed = fingerprint(before, list_source(frame, store.filesystem), settle_ms=-60_000)
    assert [f["path"] for f in changed["files"]] == [before.files[1].path]


def test_a_copy_is_no_more_open_than_its_source(spark: SparkSession, store: ArtifactStore, tmp_path: Path) -> None:
    source = tmp_path / "source"
    spark.range(1).write.parquet(str(source))
    frame = spark.read.parquet(str(source))
    # pytest's own temporary folders are private
    assert permissions_of(list_source(frame, store.filesystem)) == 0o700
    listing = list_source(frame, store.filesystem)
    opened = type(listing)(listing.files, [], listing.listed_ms)
    assert permissions_of(opened) == 0o755
    assert permissions_of(type(listing)([], [], 0)) == 0o700


def test_a_relation_without_files_has_no_fingerprint(spark: SparkSession, store: ArtifactStore) -> None:
    listing = list_source(spark.range(3).toDF("id"), store.filesystem)
    assert fingerprint(listing, listing)["type"] == "none"
