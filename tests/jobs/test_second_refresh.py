"""A refresh of a published artifact reads all rows, new rows or none, and says why."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from spark_joinery.jobs import refresh, refresh_artifact
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, HotKeys
from spark_joinery.store import ArtifactStore
from support.refreshing import contents, redescribe, write


def test_a_second_refresh_does_nothing_and_a_third_reads_what_is_new(
    spark: SparkSession, kinds: dict[str, ArtifactRequest], store: ArtifactStore, tmp_path: Path
) -> None:
    source = tmp_path / "a source"
    write(spark, source, "range(3000)")

    def run(**options: Any) -> dict[str, tuple[str, str | None, int | None]]:
        results = refresh(spark, kinds.values(), store, schema=None, **options)
        assert not [result for result in results if result.status == "failed"], results
        return {result.kind: (result.status, result.mode, result.rows) for result in results}

    every = dict.fromkeys(kinds)
    assert run() == dict.fromkeys(every, ("refreshed", "full", 3000))
    assert run() == dict.fromkeys(every, ("unchanged", None, 3000))
    write(spark, source, "range(3000, 3030)")
    assert run() == dict.fromkeys(every, ("refreshed", "incremental", 3030))
    assert run() == dict.fromkeys(every, ("unchanged", None, 3030))
    merged = {kind: contents(spark, store, request) for kind, request in kinds.items()}
    assert run(full_refresh=True) == dict.fromkeys(every, ("refreshed", "full", 3030))
    assert {kind: contents(spark, store, request) for kind, request in kinds.items()} == merged


def test_new_rows_of_an_exact_distribution_have_it_built_anew(
    spark: SparkSession, store: ArtifactStore, tmp_path: Path
) -> None:
    """Thousands of its keys are hot, so it has no sketches to which rows could be added."""
    source = tmp_path / "a source"
    spec = DistributionSpec(partition_by=["k"], order_by="ts", quantiles=2, hot=HotKeys(min_rows=1))
    request = ArtifactRequest.of_table(f"parquet.`{source}`", spec)
    for rows in (3000, 6000):
        spark.sql(f"SELECT id AS k, id AS ts FROM range({rows - 3000}, {rows})").write.mode("append").parquet(
            str(source)
        )
        (result,) = refresh(spark, [request], store, schema=None)
        assert (result.status, result.mode, result.rows, result.hot_keys) == ("refreshed", "full", rows, rows), result
    assert result.reason == "exact quantiles cannot be added to"


def test_a_version_names_columns_as_its_source_does(
    spark: SparkSession, kinds: dict[str, ArtifactRequest], store: ArtifactStore, tmp_path: Path
) -> None:
    """The jar compares names with their case. Older releases stored declared names; such a version is rebuilt once."""
    write(spark, tmp_path / "a source", "range(30)")
    request = ArtifactRequest.of_table(kinds["bloom_filter"].sql_name, BloomFilterSpec(keys=["TS", "K"]))
    assert refresh_artifact(spark, request, store, schema=None).status == "refreshed"
    version = store.current(request.kind, request.relation, request.spec_hash).version
    assert version is not None
    assert version.description["spec"]["keys"] == ["ts", "k"]
    assert refresh_artifact(spark, request, store, schema=None).status == "unchanged"

    redescribe(store, request, lambda description: description["spec"].update(keys=["TS", "K"]))
    result = refresh_artifact(spark, request, store, schema=None)
    assert (result.mode, result.reason) == (
        "full",
        "it names columns in other letters than its source, so no query finds it",
    )
    assert refresh_artifact(spark, request, store, schema=None).status == "unchanged"


@pytest.mark.parametrize("change", ["vanished", "rewritten", "column added", "unsettled", "replaced"])
def test_other_changes_are_reasons_to_read_everything(
    spark: SparkSession, kinds: dict[str, ArtifactRequest], store: ArtifactStore, tmp_path: Path, change: str
) -> None:
    source, request = tmp_path / "a source", kinds["bloom_filter"]
    write(spark, source, "range(100)")
    write(spark, source, "range(100, 200)", aged_s=-3600 if change == "unsettled" else 60)
    assert refresh_artifact(spark, request, store, schema=None).mode == "full"
    first = sorted(source.glob("*.parquet"))[0]
    match change:
        case "vanished":
            first.unlink()
            reason, rows = "1 of 2 files vanished or changed", 100
        case "rewritten":  # the same length, another time
            os.utime(first, (first.stat().st_mtime + 1,) * 2)
            reason, rows = "1 of 2 files vanished or changed", 200
        case "column added":
            shutil.rmtree(source)
            spark.sql("SELECT 1 AS k, 2 AS ts, 3 AS x").write.parquet(str(source))
            reason, rows = "its columns, format or options changed", 1
        case "unsettled":
            reason, rows = "1 files changed while the last version was built", 200
        case "replaced":
            shutil.rmtree(source)
            write(spark, source, "range(7)")
            reason, rows = "2 of 2 files vanished or changed", 7
    result = refresh_artifact(spark, request, store, schema=None)
    assert (result.status, result.mode, result.reason, result.rows) == ("refreshed", "full", reason, rows)


def test_another_default_of_a_column_that_files_lack_is_read_anew(
    spark: SparkSession, store: ArtifactStore, tmp_path: Path
) -> None:
    source = tmp_path / "a source"
    write(spark, source, "range(10)")

    def refreshed(default: int) -> tuple[str, str | None]:
        spark.sql("DROP TABLE IF EXISTS default.defaulted")
        spark.sql(f"CREATE TABLE default.defaulted (k BIGINT) USING parquet LOCATION '{source}'")
        spark.sql(f"ALTER TABLE default.defaulted ADD COLUMNS (d INT DEFAULT {default})")
        request = ArtifactRequest.of_table("default.defaulted", BloomFilterSpec(keys=["d"]))
        result = refresh_artifact(spark, request, store, schema=None)
        return result.status, result.reason

    try:
        assert refreshed(1)[0] == "refreshed"
        assert refreshed(1)[0] == "unchanged"
        assert refreshed(2) == ("refreshed", "its columns, format or options changed")
    finally:
        spark.sql("DROP TABLE IF EXISTS default.defaulted")


def test_only_new_files_are_read(spark: SparkSession, tmp_path: Path, store: ArtifactStore) -> None:
    """The old file has lost its rows, but keeps its length and time."""
    source = tmp_path / "a source"
    request = ArtifactRequest.of_table(f"parquet.`{source}`", BloomFilterSpec(keys=["k"]))
    write(spark, source, "range(10)")
    assert refresh_artifact(spark, request, store, schema=None).status == "refreshed"
    (old,) = source.glob("*.parquet")
    stat = old.stat()
    write(spark, source, "range(10, 20)")
    content = old.read_bytes()
    # keep the footer, because Spark may take the schema from it
    footer = int.from_bytes(content[-8:-4], "little") + 8
    old.write_bytes(content[:4] + bytes(len(content) - 4 - footer) + content[-footer:])
    (source / f".{old.name}.crc").unlink()
    os.utime(old, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    result = refresh_artifact(spark, request, store, schema=None)
    assert (result.mode, result.rows) == ("incremental", 20)


@pytest.mark.parametrize("name", ["_metadata", "_METADATA"])
@pytest.mark.parametrize("data_type", ["STRING", "STRUCT<file_path: STRING>"])
def test_new_files_of_a_source_with_a_column_of_the_name_of_spark_s_own(
    spark: SparkSession, store: ArtifactStore, name: str, data_type: str
) -> None:
    spark.sql(f"CREATE TABLE named (k BIGINT, {name} {data_type}) USING parquet")
    request = ArtifactRequest.of_table("named", BloomFilterSpec(keys=["k"]))
    try:
        for rows, mode in ((10, "full"), (20, "incremental")):
            spark.sql(f"INSERT INTO named SELECT id, NULL FROM range({rows - 10}, {rows})")
            (result,) = refresh(spark, [request], store, schema=None)
            assert (result.status, result.mode, result.rows) == ("refreshed", mode, rows), result
    finally:
        spark.sql("DROP TABLE named")
