"""The validity of artifacts of Delta Lake and Iceberg tables goes by the table's version, also in time travel.

Runs as `test_lakehouse.py` does: on Spark 4.1, in a process of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from spark_joinery.jobs import RefreshResult, refresh, runner
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, HotKeys, RangeIndexSpec, Spec
from spark_joinery.store import open_store

pytestmark = pytest.mark.lakehouse

TABLES = {"delta": "spark_catalog.lake.keys", "iceberg": "ice.lake.keys"}
FILTER = "joinery_might_contain"
# Every kind of artifact treats a table's versions alike, so most tests refresh one kind, and all in `make soak`.
EVERY_KIND = os.environ.get("JOINERY_SOAK") == "true"


@pytest.fixture(scope="module", autouse=True)
def facts(lake: SparkSession) -> Iterator[None]:
    """A view to join with a table that has a filter in the store. Queries build no filters themselves."""
    lake.range(400).selectExpr("id", "id AS k").createOrReplaceTempView("facts")
    lake.conf.set("spark.joinery.runtimeFilter.build.enabled", "false")
    yield
    lake.conf.unset("spark.joinery.runtimeFilter.build.enabled")


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest, lake: SparkSession) -> Iterator[str]:
    name = TABLES[request.param]
    lake.sql(f"CREATE TABLE {name} (k BIGINT, ts INT) USING {request.param}")
    lake.sql(f"INSERT INTO {name} SELECT id * 3, id FROM range(40)")
    yield name
    lake.sql(f"DROP TABLE {name}")


def run(lake: SparkSession, table: str, store: Path, every_kind: bool = EVERY_KIND) -> list[RefreshResult]:
    specs: list[Spec] = [
        BloomFilterSpec(keys=["k"]),
        DistributionSpec(partition_by=["k"], order_by="ts", hot=HotKeys(min_rows=1)),
        RangeIndexSpec(point="ts", columns=["k"]),
    ]
    requests = [ArtifactRequest.of_table(table, spec) for spec in (specs if every_kind else specs[:1])]
    return refresh(lake, requests, open_store(lake, str(store)), schema=None)


def outcome(results: list[RefreshResult]) -> tuple[str, str | None, int | None]:
    """Return the one result of all artifacts; fail if their results differ."""
    found = [(result.status, result.mode, result.rows) for result in results]
    assert found == found[:1] * len(results), results
    return found[0]


def is_used(lake: SparkSession, store: Path, dimension: str) -> bool:
    """Run a join with and without the store, compare the answers, and return whether the filter was used."""
    query = f"SELECT f.id, d.ts FROM facts f JOIN (SELECT * FROM {dimension}) d ON f.k = d.k"
    lake.conf.unset("spark.joinery.store")
    expected = answer(lake.sql(query))
    lake.conf.set("spark.joinery.store", str(store))
    frame = lake.sql(query)
    assert answer(frame) == expected
    return FILTER in frame._jdf.queryExecution().executedPlan().toString()


def answer(frame: DataFrame) -> list[str]:
    return sorted(map(repr, frame.collect()))


def test_versions(lake: SparkSession, table: str, tmp_path: Path) -> None:
    assert outcome(run(lake, table, tmp_path, every_kind=True)) == ("refreshed", "full", 40)
    assert outcome(run(lake, table, tmp_path, every_kind=True)) == ("unchanged", None, 40)
    assert is_used(lake, tmp_path, table)

    lake.sql(f"INSERT INTO {table} VALUES (301, 1), (302, 2)")
    assert not is_used(lake, tmp_path, table), "a later version of the table"
    assert outcome(run(lake, table, tmp_path, every_kind=True)) == ("refreshed", "incremental", 42)
    assert is_used(lake, tmp_path, table)

    lake.sql(f"DELETE FROM {table} WHERE k = 301")
    is_used(lake, tmp_path, table)
    assert outcome(run(lake, table, tmp_path, every_kind=True)) == ("refreshed", "full", 41)
    assert is_used(lake, tmp_path, table)


def test_time_travel(lake: SparkSession, table: str, tmp_path: Path) -> None:
    """A filter of the latest version must not be used for an earlier one with more keys."""
    column, source = (
        ("snapshot_id", f"{table}.snapshots") if table.startswith("ice") else ("version", f"(DESCRIBE HISTORY {table})")
    )
    order = "committed_at" if table.startswith("ice") else "version"
    rows = lake.sql(f"DESCRIBE HISTORY {table}") if not table.startswith("ice") else lake.table(source)
    before = rows.orderBy(order, ascending=False).first()[column]
    lake.sql(f"DELETE FROM {table} WHERE k > 30")
    assert outcome(run(lake, table, tmp_path)) == ("refreshed", "full", 11)
    assert is_used(lake, tmp_path, table)
    assert not is_used(lake, tmp_path, f"{table} VERSION AS OF {before}")


def test_compacted_and_replaced(lake: SparkSession, table: str, tmp_path: Path) -> None:
    lake.sql(f"INSERT INTO {table} VALUES (301, 1)")
    run(lake, table, tmp_path)
    if table.startswith("ice"):
        lake.sql(f"CALL ice.system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))")
    else:
        lake.sql(f"OPTIMIZE {table}")
    is_used(lake, tmp_path, table)
    assert {result.status for result in run(lake, table, tmp_path)} == {"refreshed"}
    kind = "iceberg" if table.startswith("ice") else "delta"
    lake.sql(f"DROP TABLE {table}")
    lake.sql(f"CREATE TABLE {table} (k BIGINT, ts INT) USING {kind}")
    lake.sql(f"INSERT INTO {table} VALUES (302, 1)")
    assert not is_used(lake, tmp_path, table)
    assert outcome(run(lake, table, tmp_path)) == ("refreshed", "full", 1)


def test_an_empty_table(lake: SparkSession, table: str, tmp_path: Path) -> None:
    lake.sql(f"DELETE FROM {table}")
    assert outcome(run(lake, table, tmp_path)) == ("refreshed", "full", 0)
    is_used(lake, tmp_path, table)
    lake.sql(f"INSERT INTO {table} VALUES (303, 1)")
    assert not is_used(lake, tmp_path, table)


def test_a_name_without_a_catalog_is_of_the_current_one(lake: SparkSession, tmp_path: Path) -> None:
    """dbt-spark names Iceberg tables without a catalog."""
    lake.sql("CREATE TABLE ice.lake.named (k BIGINT, ts INT) USING iceberg")
    lake.sql("INSERT INTO ice.lake.named SELECT id * 3, id FROM range(40)")
    lake.catalog.setCurrentCatalog("ice")
    try:
        results = run(lake, "lake.named", tmp_path)
        assert outcome(results) == ("refreshed", "full", 40)
        lake.sql("INSERT INTO lake.named VALUES (301, 1)")
        assert outcome(run(lake, "lake.named", tmp_path)) == ("refreshed", "incremental", 41)
    finally:
        lake.catalog.setCurrentCatalog("spark_catalog")
    assert {result.relation for result in results} == {"ice.lake.named"}
    assert is_used(lake, tmp_path, "ice.lake.named")
    lake.sql("DROP TABLE ice.lake.named")


def test_new_rows_of_a_table_with_an_odd_name(lake: SparkSession, tmp_path: Path) -> None:
    table = "ice.lake.`the keys`"
    lake.sql(f"CREATE TABLE {table} (k BIGINT, ts INT) USING iceberg")
    lake.sql(f"INSERT INTO {table} SELECT id, id FROM range(40)")
    assert outcome(run(lake, table, tmp_path)) == ("refreshed", "full", 40)
    lake.sql(f"INSERT INTO {table} VALUES (41, 1)")
    assert outcome(run(lake, table, tmp_path)) == ("refreshed", "incremental", 41)
    lake.sql(f"DROP TABLE {table}")


@pytest.fixture
def pair(lake: SparkSession) -> Iterator[str]:
    """An Iceberg table with two columns of one type, whose values do not overlap."""
    lake.sql("CREATE TABLE ice.lake.pair (k BIGINT, ts BIGINT) USING iceberg")
    lake.sql("INSERT INTO ice.lake.pair SELECT id, id + 200 FROM range(40)")
    yield "ice.lake.pair"
    lake.sql("DROP TABLE ice.lake.pair")


def swap(lake: SparkSession, table: str) -> None:
    for names in ("k TO t", "ts TO k", "t TO ts"):
        lake.sql(f"ALTER TABLE {table} RENAME COLUMN {names}")


def test_columns_that_were_changed_after_the_last_snapshot(lake: SparkSession, pair: str, tmp_path: Path) -> None:
    """ALTER TABLE makes no snapshot, and Iceberg reads a snapshot with the columns of the time when it was written."""
    assert outcome(run(lake, pair, tmp_path)) == ("refreshed", "full", 40)
    swap(lake, pair)
    assert not is_used(lake, tmp_path, pair)
    assert outcome(run(lake, pair, tmp_path)) == ("refreshed", "full", 40)
    assert is_used(lake, tmp_path, pair)
    assert outcome(run(lake, pair, tmp_path)) == ("unchanged", None, 40)
    lake.sql(f"INSERT INTO {pair} VALUES (7, 8)")
    results = run(lake, pair, tmp_path)
    assert outcome(results) == ("refreshed", "full", 41)
    assert {result.reason for result in results} == {"rows were not only appended, or columns may have changed"}
    assert is_used(lake, tmp_path, pair)
    lake.sql(f"INSERT INTO {pair} VALUES (9, 9)")
    assert outcome(run(lake, pair, tmp_path)) == ("refreshed", "incremental", 42)
    assert is_used(lake, tmp_path, pair)
    lake.sql(f"ALTER TABLE {pair} ADD COLUMN n BIGINT")
    request = ArtifactRequest.of_table(pair, BloomFilterSpec(keys=["n"]))
    (result,) = refresh(lake, [request], open_store(lake, str(tmp_path)), schema=None)
    assert (result.status, result.rows) == ("refreshed", 42), result


@pytest.mark.parametrize("change", ["added anew", "moved"])
def test_columns_that_are_others_by_the_same_names(lake: SparkSession, pair: str, tmp_path: Path, change: str) -> None:
    """Iceberg identifies columns by id, so old rows have no values in a column that was dropped and added again."""
    assert outcome(run(lake, pair, tmp_path, every_kind=True)) == ("refreshed", "full", 40)
    if change == "added anew":
        lake.sql(f"ALTER TABLE {pair} DROP COLUMN k")
        lake.sql(f"ALTER TABLE {pair} ADD COLUMN k BIGINT FIRST")
    else:
        swap(lake, pair)
        lake.sql(f"ALTER TABLE {pair} ALTER COLUMN k FIRST")
    lake.sql(f"INSERT INTO {pair} VALUES (7, 8)")
    results = run(lake, pair, tmp_path, every_kind=True)
    assert outcome(results) == ("refreshed", "full", 41)
    assert {result.keys for result in results if result.kind == "distribution"} == {
        lake.table(pair).select("k").distinct().count()
    }
    assert is_used(lake, tmp_path, pair)


def test_a_log_of_metadata_that_is_too_short_to_tell(lake: SparkSession, pair: str, tmp_path: Path) -> None:
    lake.sql(f"ALTER TABLE {pair} SET TBLPROPERTIES ('write.metadata.previous-versions-max' = '1')")
    run(lake, pair, tmp_path)
    lake.sql(f"INSERT INTO {pair} VALUES (7, 8)")
    lake.sql(f"INSERT INTO {pair} VALUES (9, 9)")
    assert outcome(run(lake, pair, tmp_path)) == ("refreshed", "full", 42)
    lake.sql(f"INSERT INTO {pair} VALUES (10, 10)")
    assert outcome(run(lake, pair, tmp_path)) == ("refreshed", "incremental", 43)


@pytest.mark.parametrize("change", ["rows", "columns"])
def test_a_table_that_changes_while_it_is_read_by_no_version(
    lake: SparkSession, pair: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    build = runner._build

    def change_and_build(*arguments: object) -> object:
        monkeypatch.undo()
        if change == "rows":
            lake.sql(f"INSERT INTO {pair} VALUES (7, 8)")
        else:
            swap(lake, pair)
        return build(*arguments)  # type: ignore[arg-type]

    swap(lake, pair)
    monkeypatch.setattr(runner, "_build", change_and_build)
    request, store = ArtifactRequest.of_table(pair, BloomFilterSpec(keys=["k"])), open_store(lake, str(tmp_path))
    (result,) = refresh(lake, [request], store, schema=None)
    assert (result.status, result.unused) == ("refreshed", "the table was changed while the artifact was built"), result
    assert not is_used(lake, tmp_path, pair)
    (result,) = refresh(lake, [request], store, schema=None)
    assert (result.status, result.mode) == ("refreshed", "full")
    reasons = {"rows": "the table was changed while the artifact was built"}
    assert result.reason == reasons.get(change, "its columns, format or options changed")
    assert is_used(lake, tmp_path, pair)


def test_new_rows_of_a_delta_table_with_a_column_of_the_name_of_spark_s_own(lake: SparkSession, tmp_path: Path) -> None:
    table = "spark_catalog.lake.metadata"
    lake.sql(f"CREATE TABLE {table} (k BIGINT, ts INT, _metadata STRING) USING delta")
    lake.sql(f"INSERT INTO {table} SELECT id, id, 'a' FROM range(40)")
    assert outcome(run(lake, table, tmp_path)) == ("refreshed", "full", 40)
    lake.sql(f"INSERT INTO {table} VALUES (41, 1, 'a')")
    assert outcome(run(lake, table, tmp_path)) == ("refreshed", "incremental", 41)
    lake.sql(f"DROP TABLE {table}")
