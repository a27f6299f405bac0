"""The report says whether an artifact is valid now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from spark_joinery.jobs import refresh
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, RangeIndexSpec
from spark_joinery.report import read_report, render
from spark_joinery.store import open_store
from support.html import parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPECS = (
    BloomFilterSpec(keys=["name"]),
    DistributionSpec(partition_by=["name"], order_by="id"),
    RangeIndexSpec(point="id", columns=["name"]),
)


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    """A table with one file."""
    spark.sql("CREATE SCHEMA report_sources")
    spark.range(10).selectExpr("id", "'a' AS name").coalesce(1).write.saveAsTable("report_sources.t")
    yield "report_sources.t"
    spark.sql("DROP SCHEMA report_sources CASCADE")


def test_new_files_make_filters_and_indexes_not_valid(spark: SparkSession, table: str, tmp_path: Path) -> None:
    """The real jobs build all three kinds for a table, and a filter for the same files by their path."""
    store = open_store(spark, str(tmp_path / "store"))
    (file,) = spark.table(table).inputFiles()
    path = file.rpartition("/")[0].removeprefix("file://")
    requests = [ArtifactRequest.of_table(table, spec) for spec in SPECS]
    requests.append(ArtifactRequest.of_table(f"parquet.`{path}`", SPECS[0]))
    results = refresh(spark, requests, store, schema=None)
    assert [result.status for result in results] == ["refreshed"] * 4, results

    def states() -> list[tuple[str, str]]:
        page = parse(render(read_report(spark, store)))
        return [(row[1], row[-1]) for row in page.table("All").rows()[1:]]

    kinds = ["Bloom filter", "Bloom filter", "Skew distribution", "Range index"]
    assert states() == [(kind, "valid") for kind in kinds]
    spark.range(5).selectExpr("id", "'b' AS name").coalesce(1).write.insertInto(table)
    assert states() == list(zip(kinds, ["valid", "valid", "valid", "not valid"], strict=True))
    spark.range(5000).selectExpr("id", "'c' AS name").coalesce(1).write.insertInto(table)
    assert states() == list(zip(kinds, ["not valid", "not valid", "valid", "not valid"], strict=True))
    page = parse(render(read_report(spark, store)))
    remarks = [one.text for one in page.all("p") if one.attributes.get("class") == "remark"]
    without = "Queries run without it until the next refresh."
    assert remarks == [
        f"Not valid now: 2 of 3 files are new or changed, and hold more than the others. {without}",
        f"Not valid now: 2 of 3 files are new or changed, and hold more than the others. {without}",
        f"Not valid now: 2 of 3 files are new or changed. {without}",
    ]
    assert "1 of 3 files of the source" in page.article("name, ordered by id").text


def test_a_path_is_read_as_it_was_declared(spark: SparkSession, tmp_path: Path) -> None:
    """The path's identity has the cluster in lower case, but no file system is configured under that name."""
    spark.range(10).selectExpr("id", "'a' AS name").coalesce(1).write.parquet(str(tmp_path / "t"))
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()  # type: ignore[union-attr]
    mounted = {
        "fs.viewfs.mounttable.MyCluster.link./data": f"file:{tmp_path}",
        # otherwise, the file system that the refresh opened also answers to other spellings
        "fs.viewfs.impl.disable.cache": "true",
    }
    for key, value in mounted.items():
        hadoop.set(key, value)
    try:
        store = open_store(spark, str(tmp_path / "store"))
        requests = [ArtifactRequest.of_table("parquet.`viewfs://MyCluster/data/t`", spec) for spec in SPECS]
        results = refresh(spark, requests, store, schema=None)
        assert [(result.relation, result.status) for result in results] == [
            ("viewfs://mycluster/data/t", "refreshed")
        ] * 3, results
        found = read_report(spark, store).artifacts
        assert [(each.validity.usable, each.validity.reason) for each in found if each.validity] == [
            (True, "all files of the source are covered"),
            (True, "a distribution is always used: a stale one balances worse"),
            (True, "all files of the source are covered"),
        ]
    finally:
        for key in mounted:
            hadoop.unset(key)
