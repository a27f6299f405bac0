"""Queries with the real jar use range indexes that the real jobs built, as long as an index covers the files read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from spark_joinery.jobs import refresh_artifact, runner
from spark_joinery.jobs.source import open_source
from spark_joinery.metadata import ArtifactRequest, RangeIndexSpec
from spark_joinery.store import open_store

MINUTE = 60
SPANS = (
    "SELECT id AS storm_id, timestamp_micros(id * 1000001) AS starts_at, "
    "timestamp_micros(id * 1000001 + id % 7 * 500000) AS ends_at, concat('storm ', id) AS name"
)
QUERY = (
    "SELECT m.id, s.storm_id, s.starts_at, s.name FROM moments m LEFT JOIN storms s "
    "ON m.at BETWEEN s.starts_at AND s.ends_at"
)
SPEC = RangeIndexSpec(start="starts_at", end="ends_at", columns=["storm_id", "name"])


class Bench:
    """A view of moments, a table of storms with a range index, and a store."""

    def __init__(self, spark: SparkSession, store: Path) -> None:
        self.spark, self.store = spark, str(store)

    def age(self) -> None:
        """Make the files look a minute older, so that tests need not wait until a refresh covers them."""
        for file in self.files():
            os.utime(file, (file.stat().st_mtime - MINUTE,) * 2)
        self.spark.catalog.refreshTable("storms")

    def files(self) -> list[Path]:
        return [Path(uri.removeprefix("file://")) for uri in self.spark.table("storms").inputFiles()]

    def refresh(self) -> str:
        request = ArtifactRequest.of_table("storms", SPEC)
        result = refresh_artifact(self.spark, request, open_store(self.spark, self.store), schema=None)
        assert result.status in ("refreshed", "unchanged"), result
        return result.mode or result.status

    def loads_index(self, query: str = QUERY) -> bool:
        """Run a query with and without the store, compare the answers, and return whether the index was loaded."""
        self.spark.conf.unset("spark.joinery.store")
        expected = sorted(map(repr, self.spark.sql(query).collect()))
        self.spark.conf.set("spark.joinery.store", self.store)
        frame = self.spark.sql(query)
        assert sorted(map(repr, frame.collect())) == expected
        return "StoredRangeIndex" in frame._jdf.queryExecution().executedPlan().toString()


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Iterator[Bench]:
    spark.conf.set("spark.joinery.store.timeout", "60s")
    spark.range(3000).selectExpr("id", "timestamp_micros(id * 337333) AS at").createOrReplaceTempView("moments")
    spark.sql("CREATE TABLE storms USING parquet AS " + SPANS + " FROM range(0, 800, 1, 4)")
    bench = Bench(spark, tmp_path / "store")
    bench.age()
    yield bench
    spark.sql("DROP TABLE storms")
    spark.catalog.dropTempView("moments")
    for key in ("spark.joinery.store", "spark.joinery.store.timeout"):
        spark.conf.unset(key)


def test_an_index_and_what_comes_after_it(bench: Bench) -> None:
    assert not bench.loads_index()
    assert bench.refresh() == "full"
    assert bench.loads_index()
    assert bench.loads_index(QUERY.replace("LEFT JOIN", "JOIN"))
    bench.spark.sql("INSERT INTO storms " + SPANS + " FROM range(900, 905, 1, 1)")
    assert bench.loads_index()  # and adds the new rows
    bench.age()  # changes the files' times
    assert not bench.loads_index()
    assert bench.refresh() == "full"
    assert bench.loads_index()
    bench.spark.sql("INSERT OVERWRITE storms " + SPANS + " FROM range(30, 60, 1, 1)")
    assert not bench.loads_index()


def test_runs_of_an_incremental_refresh(bench: Bench) -> None:
    assert bench.refresh() == "full"
    bench.spark.sql("INSERT INTO storms " + SPANS + " FROM range(850, 900, 1, 1)")
    youngest = max(bench.files(), key=lambda file: file.stat().st_mtime)
    os.utime(youngest, (youngest.stat().st_mtime - MINUTE,) * 2)
    bench.spark.catalog.refreshTable("storms")
    assert bench.refresh() == "incremental"
    assert bench.loads_index()


@pytest.mark.parametrize("written_as", ["INT96", "TIMESTAMP_MILLIS"])
def test_timestamps_are_stored_to_the_microsecond(bench: Bench, written_as: str) -> None:
    """Indexes keep microseconds even if the refreshing session is set to write another timestamp type."""
    bench.spark.conf.set("spark.sql.parquet.outputTimestampType", written_as)
    try:
        assert bench.refresh() == "full"
        assert bench.spark.conf.get("spark.sql.parquet.outputTimestampType") == written_as
    finally:
        bench.spark.conf.unset("spark.sql.parquet.outputTimestampType")
    assert bench.loads_index()


@pytest.fixture
def shared(bench: Bench, tmp_path: Path) -> Bench:
    """A table with one partition; if `share` adds another one in the same folder, Spark reads the rows twice."""
    folder = tmp_path / "storms"
    bench.spark.sql("DROP TABLE storms")
    bench.spark.sql(
        "CREATE TABLE storms (storm_id BIGINT, starts_at TIMESTAMP, ends_at TIMESTAMP, name STRING, d INT) "
        f"USING parquet PARTITIONED BY (d) LOCATION '{folder}'"
    )
    bench.spark.sql("INSERT INTO storms PARTITION (d = 1) " + SPANS + " FROM range(0, 800, 1, 4)")
    bench.age()
    return bench


def share(bench: Bench, tmp_path: Path) -> None:
    bench.spark.sql(f"ALTER TABLE storms ADD PARTITION (d = 2) LOCATION '{tmp_path}/storms/d=1'")


def test_partitions_that_share_a_folder(shared: Bench, tmp_path: Path) -> None:
    assert shared.refresh() == "full"
    assert shared.loads_index()
    share(shared, tmp_path)
    assert shared.spark.table("storms").count() == 1600
    assert not shared.loads_index()
    assert shared.refresh() == "unchanged"
    request, store = ArtifactRequest.of_table("storms", SPEC), open_store(shared.spark, str(tmp_path / "other"))
    result = refresh_artifact(shared.spark, request, store, schema=None)
    assert result.status == "skipped"
    assert "partitions of default.storms share files" in str(result.reason)
    shared.spark.sql("ALTER TABLE storms DROP PARTITION (d = 2)")
    assert shared.loads_index()
    assert refresh_artifact(shared.spark, request, store, schema=None).rows == 800


def test_partitions_that_come_to_share_a_folder(shared: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second partition is added while the index is built."""
    build = runner._build

    def share_and_build(*arguments: Any) -> Any:
        monkeypatch.undo()
        share(shared, tmp_path)
        return build(*arguments)

    monkeypatch.setattr(runner, "_build", share_and_build)
    assert shared.refresh() == "full"
    assert not shared.loads_index()
    shared.spark.sql("ALTER TABLE storms DROP PARTITION (d = 2)")
    assert not shared.loads_index()
    assert shared.refresh() == "full"
    assert shared.loads_index()


def test_partitions_in_folders_of_their_own_are_not_read_to_tell(spark: SparkSession, tmp_path: Path) -> None:
    """All files are deleted, so a scan would fail."""
    spark.sql("CREATE TABLE parts (ts BIGINT, d STRING, e INT) USING parquet PARTITIONED BY (d, e)")
    try:
        value = "CASE id % 3 WHEN 0 THEN NULL WHEN 1 THEN 'a b:c/\u00e4%' ELSE 'x=y' END"
        spark.sql(f"INSERT INTO parts SELECT id, {value}, id % 2 FROM range(0, 12, 1, 1)")
        store = open_store(spark, str(tmp_path))
        source = open_source(spark, ArtifactRequest.of_table("parts", RangeIndexSpec(point="ts")), store.filesystem)
        assert source is not None
        for path in source.uris():
            Path(path.removeprefix("file:")).unlink()
        assert not source.shares_files()
    finally:
        spark.sql("DROP TABLE parts")


def test_a_file_that_vanishes_once_the_index_is_built(shared: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """One partition is empty, so the check for shared files has to read the table, and finds a file gone."""
    shared.spark.sql("INSERT INTO storms PARTITION (d = 2) " + SPANS + " FROM range(800, 810, 1, 1)")
    shared.spark.sql("ALTER TABLE storms ADD PARTITION (d = 3)")
    shared.age()
    build = runner._build

    def build_and_delete(*arguments: Any) -> Any:
        monkeypatch.undo()
        built = build(*arguments)
        shared.files()[0].unlink()
        return built

    monkeypatch.setattr(runner, "_build", build_and_delete)
    assert shared.refresh() == "full"
    shared.spark.catalog.refreshTable("storms")
    assert not shared.loads_index()
    assert shared.refresh() == "full"
    assert shared.loads_index()
