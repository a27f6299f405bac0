"""A refresh, from a relation to a published version and its view."""

from __future__ import annotations

import datetime as dt
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_joinery.jobs import refresh, refresh_artifact
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, HotKeys, artifact_table_name
from spark_joinery.store import (
    ArtifactStore,
    FileStatus,
    Listing,
    fingerprint,
    list_settled,
    list_source,
    open_store,
    permissions_of,
)

SPEC = DistributionSpec(partition_by=["carrier"], order_by="departs_at", quantiles=2, hot=HotKeys(min_rows=3))


@pytest.fixture(scope="module")
def flights(spark: SparkSession) -> Iterator[ArtifactRequest]:
    """The request for a distribution of a table with four flights, three of them by UA."""
    rows = [("UA", dt.datetime(2013, 1, day)) for day in (1, 2, 3)] + [("AA", dt.datetime(2013, 1, 1))]
    spark.sql("CREATE SCHEMA IF NOT EXISTS refresh_test")
    frame = spark.createDataFrame(rows, "carrier string, departs_at timestamp")
    frame.coalesce(1).write.mode("overwrite").saveAsTable("refresh_test.flights")
    yield ArtifactRequest.of_table("refresh_test.flights", SPEC)
    spark.sql("DROP SCHEMA refresh_test CASCADE")
    spark.sql("DROP SCHEMA IF EXISTS joinery CASCADE")


def files_of_view(spark: SparkSession, view: str | None) -> list[str]:
    """The files that the view of a distribution reads."""
    return sorted(spark.table(str(view)).inputFiles())


def files_of_version(spark: SparkSession, store: ArtifactStore, request: ArtifactRequest) -> list[str]:
    """The files of the current version."""
    version = store.current(request.kind, request.relation, request.spec_hash).version
    assert version is not None
    return sorted(spark.read.parquet(version.data_path).inputFiles())


def test_a_refresh_publishes_and_registers(spark: SparkSession, flights: ArtifactRequest, store: ArtifactStore) -> None:
    result = refresh_artifact(spark, flights, store)
    assert (result.status, result.mode, result.rows, result.keys, result.hot_keys) == ("refreshed", "full", 4, 2, 1)
    assert result.table == f"joinery.{artifact_table_name(flights)}"
    table = spark.table(result.table)
    assert [(f.name, f.dataType.simpleString()) for f in table.schema] == [
        ("carrier", "string"),
        ("row_count", "bigint"),
        ("is_hot", "boolean"),
        ("quantiles", "array<timestamp>"),
        ("null_count", "bigint"),
        ("rank_error", "double"),
    ]
    rows = sorted(map(tuple, table.collect()))
    assert [row[:5] for row in rows] == [("AA", 1, False, None, 0), ("UA", 3, True, [dt.datetime(2013, 1, 2)], 0)]

    lookup = store.current("distribution", flights.relation, flights.spec_hash)
    assert lookup.version is not None
    assert lookup.version.name == result.version
    assert sorted(map(tuple, spark.read.parquet(lookup.version.data_path).collect())) == rows
    assert lookup.version.description["rows"] == 4


def test_a_view_shows_the_version_that_is_current_of_its_specification(
    spark: SparkSession, flights: ArtifactRequest, store: ArtifactStore
) -> None:
    """Specifications that only differ in quantiles share a view, so that dbt finds the view by its columns."""
    others = ArtifactRequest.of_table("refresh_test.flights", SPEC.model_copy(update={"quantiles": 4}))
    for request, status in ((flights, "refreshed"), (others, "refreshed"), (flights, "unchanged")):
        result = refresh_artifact(spark, request, store)
        assert (result.status, result.table) == (status, f"joinery.{artifact_table_name(flights)}")
        assert files_of_view(spark, result.table) == files_of_version(spark, store, request)


def test_a_refresh_that_changes_nothing_mends_the_view(
    spark: SparkSession, flights: ArtifactRequest, store: ArtifactStore, tmp_path: Path
) -> None:
    """A version may be published without its view, or the view may belong to another store."""
    other = open_store(spark, f"{tmp_path}/it's another store")
    assert refresh_artifact(spark, flights, other).status == "refreshed"
    assert refresh_artifact(spark, flights, store, schema=None).status == "refreshed"
    for now in (store, other):
        result = refresh_artifact(spark, flights, now)
        assert result.status == "unchanged"
        assert files_of_view(spark, result.table) == files_of_version(spark, now, flights)
    shutil.rmtree(f"{tmp_path}/it's another store")
    assert refresh_artifact(spark, flights, store).table == result.table
    assert files_of_view(spark, result.table) == files_of_version(spark, store, flights)


def test_a_schema_that_cannot_be_one_is_told_before_anything_is_built(
    spark: SparkSession, flights: ArtifactRequest, store: ArtifactStore
) -> None:
    (result,) = refresh(spark, [flights], store, schema="my schema")
    assert (result.status, result.retryable) == ("failed", False)
    assert result.reason == (
        "'my schema' cannot be the schema of the view of a distribution: expected [catalog.]schema, odd parts in "
        "backticks."
    )
    assert not Path(store.root.removeprefix("file:")).exists()


def test_a_view_that_is_as_it_should_be_is_left_alone(
    spark: SparkSession, flights: ArtifactRequest, store: ArtifactStore
) -> None:
    """A user who may only read the schema can run a refresh that has nothing to do."""
    view = refresh_artifact(spark, flights, store).table
    spark.sql(f"ALTER VIEW {view} SET TBLPROPERTIES ('touched' = 'no')")
    assert refresh_artifact(spark, flights, store).status == "unchanged"
    assert spark.sql(f"SHOW TBLPROPERTIES {view} ('touched')").first()["value"] == "no"  # type: ignore[index]


def test_one_failure_does_not_stop_the_others(
    spark: SparkSession, flights: ArtifactRequest, store: ArtifactStore
) -> None:
    requests = [
        ArtifactRequest.of_table("refresh_test.later", SPEC),
        ArtifactRequest.of_table("no_such_schema.t", SPEC),
        ArtifactRequest.of_table("parquet.`/no/such/path`", SPEC),
        ArtifactRequest.of_table("refresh_test.flights", BloomFilterSpec(keys=["nope"])),
        ArtifactRequest.of_table("refresh_test.flights", SPEC.model_copy(update={"order_by": "nope"})),
        flights,
    ]
    seen = []
    results = refresh(spark, requests, store, schema=None, on_result=seen.append)
    assert seen == results
    assert [result.status for result in results] == ["skipped"] * 3 + ["failed"] * 2 + ["refreshed"]
    assert [result.reason for result in results] == [
        "refresh_test.later does not exist yet",
        "no_such_schema.t does not exist yet",
        "parquet.`/no/such/path` does not exist yet",
        "refresh_test.flights has no column 'nope'. Its columns are: carrier, departs_at.",
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
    """Spark only notices the damaged source during the build."""
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
    # pytest's temporary folders are private
    listing = list_source(frame, store.filesystem)
    assert permissions_of(listing, store.root) == 0o700
    opened = type(listing)(listing.files, [], listing.listed_ms)
    assert permissions_of(opened, store.root) == 0o755
    assert permissions_of(type(listing)([], [], 0), store.root) == 0o700


@pytest.mark.parametrize("source", ["s3a://bucket/raw", "hdfs://one/raw", "file:/raw"])
@pytest.mark.parametrize("root", ["s3a://bucket/store", "hdfs://one/store", "hdfs://two/store", "file:/store"])
def test_permissions_of_another_file_system_open_nothing(source: str, root: str) -> None:
    """S3 reports every file as writable by all."""
    files = [FileStatus(f"{source}/part-0.parquet", False, 1, 1, 0o666)]
    folders = [FileStatus(source, True, 0, 1, 0o777)]
    same = root.startswith(source.removesuffix("/raw"))
    assert permissions_of(Listing(files, folders, 2), root) == (0o755 if same else 0o700)


def test_a_relation_without_files_has_no_fingerprint(spark: SparkSession, store: ArtifactStore) -> None:
    listing = list_source(spark.range(3).toDF("id"), store.filesystem)
    assert fingerprint(listing, listing)["type"] == "none"


def test_a_name_without_a_catalog_is_of_the_current_one(
    spark: SparkSession, store: ArtifactStore, tmp_path: Path
) -> None:
    """The jar finds names in the same way. Iceberg's catalog is current under dbt; here, Derby's stands in for it."""
    url = f"jdbc:derby:memory:{tmp_path.name};create=true"
    settings = {
        "spark.sql.catalog.ice": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "spark.sql.catalog.ice.url": url,
        "spark.sql.catalog.ice.driver": "org.apache.derby.jdbc.EmbeddedDriver",
    }
    spec = DistributionSpec(partition_by=["K"], order_by="TS", hot=HotKeys(min_rows=1))
    request = ArtifactRequest.of_table("LAKE.T", spec)
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        spark.catalog.setCurrentCatalog("ice")
        spark.sql("CREATE SCHEMA LAKE")
        spark.sql("CREATE TABLE LAKE.T (K INT, TS INT)")
        spark.sql("INSERT INTO LAKE.T VALUES (1, 1), (1, 2)")
        (result,) = refresh(spark, [request], store, schema=None)
    finally:
        spark.catalog.setCurrentCatalog("spark_catalog")
        for key in settings:
            spark.conf.unset(key)
    assert (result.status, result.relation, result.rows) == ("refreshed", "ice.LAKE.T", 2), result
    assert store.current(request.kind, "ice.LAKE.T", request.spec_hash).version is not None


@pytest.mark.parametrize("table_format", ["parquet", "orc", "csv"])
def test_partitioned_tables_of_every_format(
    spark: SparkSession, store: ArtifactStore, tmp_path: Path, table_format: str
) -> None:
    name = f"refresh_formats_{table_format}"
    options = "OPTIONS (sep ';', header 'true')" if table_format == "csv" else ""
    spark.sql(f"CREATE TABLE {name} (k INT, ts INT, p STRING) USING {table_format} {options} PARTITIONED BY (p)")
    requests = [
        ArtifactRequest.of_table(name, spec)
        for spec in (
            DistributionSpec(partition_by=["p"], order_by="ts", hot=HotKeys(min_rows=1)),
            BloomFilterSpec(keys=["k"], where="p = 'b c'"),
        )
    ]
    spark.sql(f"INSERT INTO {name} SELECT id, id, 'a' FROM range(5)")
    assert [r.rows for r in refresh(spark, requests, store, schema=None)] == [5, 5]
    spark.sql(f"INSERT INTO {name} SELECT id, id, 'b c' FROM range(5, 12)")
    results = refresh(spark, requests, store, schema=None)
    assert [(r.mode, r.rows, r.keys) for r in results] == [("incremental", 12, 2), ("incremental", 12, 7)]
    version = store.current("bloom_filter", requests[1].relation, requests[1].spec_hash).version
    assert version is not None
    assert version.description["source"] == {
        "provider": table_format,
        "options": "header=true,sep=;" if table_format == "csv" else "",
        "schema": [["k", "int"], ["ts", "int"], ["p", "string"]],
        "partition_columns": ["p"],
    }
    spark.sql(f"ALTER TABLE {name} DROP PARTITION (p = 'a')")
    assert [(r.mode, r.rows) for r in refresh(spark, requests, store, schema=None)] == [("full", 7)] * 2
    spark.sql(f"DROP TABLE {name}")


def test_views_have_distributions_only(spark: SparkSession, flights: ArtifactRequest, store: ArtifactStore) -> None:
    spark.sql("CREATE OR REPLACE VIEW refresh_test.v AS SELECT * FROM refresh_test.flights")
    requests = [ArtifactRequest.of_table("refresh_test.v", spec) for spec in (SPEC, BloomFilterSpec(keys=["carrier"]))]
    for _ in range(2):
        results = refresh(spark, requests, store, schema=None)
        assert [(r.status, r.mode) for r in results] == [("refreshed", "full"), ("failed", None)]
    assert "refresh_test.v is a view" in str(results[1].reason)


def test_a_file_just_written_is_waited_for(spark: SparkSession, store: ArtifactStore, tmp_path: Path) -> None:
    source = tmp_path / "source"
    spark.range(4).coalesce(1).write.parquet(str(source))
    frame = spark.read.parquet(str(source))
    listing = list_settled(frame, store.filesystem)
    assert len(fingerprint(listing, listing)["files"]) == 1
    (file,) = source.glob("*.parquet")
    os.utime(file, (file.stat().st_mtime + 3600,) * 2)
    listing = list_settled(frame, store.filesystem)
    assert fingerprint(listing, listing)["uncovered"] == 1
