"""Sources change after the real jobs built their artifacts, and the real jar decides whether to use these.

A query always answers as if there were no store.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from spark_joinery.jobs import refresh_artifact, runner
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, HotKeys
from spark_joinery.store import open_store

FILTER = "joinery_might_contain"
SETTINGS = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
    "spark.joinery.runtimeFilter.build.enabled": "false",
    "spark.joinery.store.timeout": "60s",
    "spark.sql.sources.partitionOverwriteMode": "static",
}
MINUTE = 60


@dataclass
class Bench:
    """A fact table, a dimension with a bloom filter, and a store."""

    spark: SparkSession
    store: str
    folder: Path

    def refresh(self, table: str, keys: tuple[str, ...] = ("k",), where: str | None = None) -> str:
        request = ArtifactRequest.of_table(table, BloomFilterSpec(keys=list(keys), where=where))
        result = refresh_artifact(self.spark, request, open_store(self.spark, self.store), schema=None)
        assert result.status in ("refreshed", "unchanged"), result
        return result.mode or result.status

    def is_used(self, query: str) -> bool:
        """Run a query with and without the store, compare the answers, and return whether the filter was used."""
        self.spark.conf.unset("spark.joinery.store")
        expected = answer(self.spark.sql(query))
        self.spark.conf.set("spark.joinery.store", self.store)
        frame = self.spark.sql(query)
        assert answer(frame) == expected
        return FILTER in frame._jdf.queryExecution().executedPlan().toString()

    def join(self, dimension: str, on: str = "f.k = d.k") -> str:
        return f"SELECT f.id, d.name FROM facts f JOIN {dimension} d ON {on}"

    def age(self, table: str) -> None:
        """Make a table's files look a minute older, so that tests need not wait until a refresh covers them."""
        for file in self.files(table):
            os.utime(file, (file.stat().st_mtime - MINUTE,) * 2)
        self.spark.catalog.refreshTable(table)

    def files(self, table: str) -> list[Path]:
        uris = self.spark.table(table).inputFiles()
        return [Path(uri.removeprefix("file://")) for uri in sorted(uris)]


def answer(frame: DataFrame) -> list[str]:
    return sorted(map(repr, frame.collect()))


@pytest.fixture(scope="module")
def bench(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("validity")
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    spark.sql(
        "CREATE TABLE facts USING parquet AS SELECT id, id % 400 AS k, cast(id % 400 AS STRING) AS s FROM range(800)"
    )
    yield Bench(spark, str(folder / "store"), folder)
    spark.sql("DROP TABLE facts")
    for key in [*SETTINGS, "spark.joinery.store"]:
        spark.conf.unset(key)


@pytest.fixture
def dimension(bench: Bench, request: pytest.FixtureRequest) -> Iterator[str]:
    """A table with 40 keys in two files, whose filter is built and used."""
    name = "d_" + "".join(c if c.isalnum() else "_" for c in request.node.name.lower())
    bench.spark.sql(f"CREATE TABLE {name} (k BIGINT, name STRING) USING parquet")
    bench.spark.sql(f"INSERT INTO {name} SELECT /*+ REPARTITION(2) */ id * 3, 'a' FROM range(40)")
    bench.age(name)
    assert bench.refresh(name) == "full"
    assert bench.is_used(bench.join(name))
    yield name
    bench.spark.sql(f"DROP TABLE IF EXISTS {name}")


def test_rows_appended(bench: Bench, dimension: str) -> None:
    bench.spark.sql(f"INSERT INTO {dimension} VALUES (301, 'new')")
    assert not bench.is_used(bench.join(dimension))
    assert bench.refresh(dimension) == "incremental"
    assert bench.is_used(bench.join(dimension))


def test_a_file_deleted(bench: Bench, dimension: str) -> None:
    """The filter still covers the remaining file."""
    bench.files(dimension)[0].unlink()
    bench.spark.catalog.refreshTable(dimension)
    assert bench.is_used(bench.join(dimension))


@pytest.mark.parametrize("keys", ["the same", "others"])
def test_rewritten(bench: Bench, dimension: str, keys: str) -> None:
    rows = bench.spark.range(40).selectExpr("id * 3 k" if keys == "the same" else "id * 3 + 1 k", "'b' name")
    rows.write.insertInto(dimension, overwrite=True)
    assert not bench.is_used(bench.join(dimension))


def test_files_compacted(bench: Bench, dimension: str) -> None:
    rows = bench.spark.table(dimension).coalesce(1).collect()
    bench.spark.createDataFrame(rows, "k bigint, name string").coalesce(1).write.insertInto(dimension, overwrite=True)
    assert len(bench.files(dimension)) == 1
    assert not bench.is_used(bench.join(dimension))


def test_schema_evolved(bench: Bench, dimension: str) -> None:
    bench.spark.sql(f"ALTER TABLE {dimension} ADD COLUMNS (more INT)")
    assert not bench.is_used(bench.join(dimension))
    assert bench.refresh(dimension) == "full"
    assert bench.is_used(bench.join(dimension))


def test_another_table_of_the_same_name(bench: Bench, dimension: str) -> None:
    bench.spark.sql(f"DROP TABLE {dimension}")
    bench.spark.sql(f"CREATE TABLE {dimension} (k BIGINT, name STRING) USING parquet")
    bench.spark.sql(f"INSERT INTO {dimension} SELECT id, 'z' FROM range(300, 310)")
    assert not bench.is_used(bench.join(dimension))


def test_a_file_replaced_in_place_by_one_of_the_same_length(bench: Bench) -> None:
    """A CSV file gets other keys in as many bytes, after the session has listed the files."""
    folder = bench.folder / "in place"
    folder.mkdir()
    file = folder / "keys.csv"
    file.write_text("111\n222\n")
    os.utime(file, (file.stat().st_mtime - MINUTE,) * 2)
    bench.spark.sql(f"CREATE TABLE in_place (k BIGINT) USING csv LOCATION '{folder}'")
    bench.refresh("in_place")
    query = "SELECT f.id FROM facts f JOIN in_place d ON f.k = d.k"
    assert bench.is_used(query)
    file.write_text("333\n222\n")
    assert not bench.is_used(query)
    assert bench.refresh("in_place") == "full"
    assert bench.is_used(query)
    bench.spark.sql("DROP TABLE in_place")


def test_a_file_rewritten_within_a_second(bench: Bench) -> None:
    """A file gets other keys in as many bytes within one tick of a coarse clock, so a job covers no file that young.

    The file's time is half a minute ahead, so that the file is young on a slow machine, too.
    """
    folder = bench.folder / "same second"
    folder.mkdir()
    file, second = folder / "keys.csv", int(time.time()) + 30
    file.write_text("111\n222\n")
    os.utime(file, (second, second))
    bench.spark.sql(f"CREATE TABLE same_second (k BIGINT) USING csv LOCATION '{folder}'")
    bench.refresh("same_second")
    file.write_text("333\n222\n")
    os.utime(file, (second, second))
    assert not bench.is_used("SELECT f.id FROM facts f JOIN same_second d ON f.k = d.k")
    bench.spark.sql("DROP TABLE same_second")


@pytest.mark.parametrize("change", ["rewritten", "appended", "appended by the refreshing session"])
def test_the_source_changes_during_the_build(
    bench: Bench, dimension: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source changes after the real job has listed it, and before the job publishes.

    Spark may or may not have read rows that the job's own session inserts meanwhile, so the next refresh is full.
    """
    build = runner._build

    def build_then_change(*arguments: object) -> object:
        built = build(*arguments)  # type: ignore[arg-type]
        if change == "appended":
            late = pa.table({"k": [302], "name": ["late"]})
            pq.write_table(late, bench.files(dimension)[0].parent / "late.parquet")
        elif change == "appended by the refreshing session":
            bench.spark.sql(f"INSERT INTO {dimension} VALUES (302, 'late')")
        else:
            first = bench.files(dimension)[0]
            os.utime(first, (first.stat().st_mtime + 1,) * 2)
        return built

    bench.spark.sql(f"INSERT INTO {dimension} VALUES (303, 'before')")
    bench.age(dimension)
    with monkeypatch.context() as patch:
        patch.setattr(runner, "_build", build_then_change)
        bench.refresh(dimension)
    assert not bench.is_used(bench.join(dimension))
    assert bench.refresh(dimension) == ("incremental" if change == "appended" else "full")
    assert bench.is_used(bench.join(dimension))


def test_empty_files_are_covered(bench: Bench) -> None:
    bench.spark.sql("CREATE TABLE with_empty (k BIGINT, name STRING) USING parquet")
    bench.spark.range(8).selectExpr("id k", "'x' name").where("k = 0").repartition(4).write.insertInto("with_empty")
    bench.spark.sql("INSERT INTO with_empty SELECT id, 'x' FROM range(4) WHERE id > 9")
    bench.age("with_empty")
    bench.refresh("with_empty")
    assert bench.is_used(bench.join("with_empty"))
    bench.spark.sql("DROP TABLE with_empty")


@pytest.mark.parametrize(
    ("column", "on", "used"),
    [
        ("k INT", "f.k = d.k", True),
        ("k TINYINT", "f.k = d.k", True),
        ("k BIGINT", "f.k = d.k", True),
        ("k DECIMAL(20,0)", "f.k = d.k", True),
        ("k DECIMAL(5,1)", "f.k = d.k", False),
        ("k DOUBLE", "f.k = d.k", True),
        ("k STRING", "f.s = d.k", True),
        ("k STRING", "f.k = d.k", False),
        ("k INT", "f.k <=> d.k", False),
        ("k INT", "f.k = d.k + 1", False),
    ],
)
def test_types_of_keys(bench: Bench, column: str, on: str, used: bool) -> None:
    """The filter holds the dimension's values as stored, so it serves equal types, or integers that the join widens."""
    bench.spark.sql("DROP TABLE IF EXISTS typed")
    bench.spark.sql(f"CREATE TABLE typed ({column}, name STRING) USING parquet")
    bench.spark.sql("INSERT INTO typed SELECT id * 3, 'a' FROM range(30)")
    bench.age("typed")
    bench.refresh("typed")
    assert bench.is_used(bench.join("typed", on)) is used
    bench.spark.sql("DROP TABLE typed")


def test_partitions(bench: Bench) -> None:
    bench.spark.sql("CREATE TABLE parts (k BIGINT, name STRING, p INT) USING parquet PARTITIONED BY (p)")
    bench.spark.sql("INSERT INTO parts SELECT id * 3, 'a', id % 3 FROM range(30)")
    bench.age("parts")
    bench.refresh("parts")
    assert bench.is_used(bench.join("parts"))
    bench.spark.sql("ALTER TABLE parts DROP PARTITION (p = 1)")
    bench.is_used(bench.join("parts"))
    bench.spark.sql("INSERT INTO parts VALUES (305, 'b', 7)")
    assert not bench.is_used(bench.join("parts"))
    # the catalog holds a partition's value, so the value may change while the files stay the same
    bench.refresh("parts", keys=("p",))
    assert not bench.is_used("SELECT f.id FROM facts f JOIN parts d ON f.k = d.p")
    bench.spark.sql("DROP TABLE parts")


def test_where(bench: Bench, dimension: str) -> None:
    bench.spark.sql(f"INSERT INTO {dimension} SELECT id, 'b' FROM range(350, 360)")
    bench.age(dimension)
    bench.refresh(dimension, where="name = 'b'")
    assert bench.is_used(f"{bench.join(dimension)} WHERE d.name = 'b' AND d.k <> 351")
    assert not bench.is_used(f"{bench.join(dimension)} WHERE d.name = 'a'")
    assert not bench.is_used(f"{bench.join(dimension)} WHERE d.name IN ('a', 'b')")


def test_settings_by_which_files_are_read(bench: Bench) -> None:
    """A query with the old calendar reads other dates before 1582 from the same files than the job did."""
    spark = bench.spark
    with_old_dates = "SELECT id, date'1500-01-01' + int(id) AS d, 'x' AS name FROM range(30)"
    spark.sql(f"CREATE TABLE old_dates USING parquet AS {with_old_dates}")
    bench.age("old_dates")
    bench.refresh("old_dates", keys=("d",))
    query = "SELECT f.id FROM (SELECT id, date'1500-01-01' + int(id) AS d FROM facts) f JOIN old_dates d ON f.d = d.d"
    assert bench.is_used(query)
    spark.conf.set("spark.sql.parquet.datetimeRebaseModeInRead", "LEGACY")
    assert not bench.is_used(query)
    spark.conf.unset("spark.sql.parquet.datetimeRebaseModeInRead")
    spark.sql("DROP TABLE old_dates")


def test_a_damaged_store_is_ignored(bench: Bench, dimension: str) -> None:
    (data,) = Path(bench.store).glob(f"bloom_filter/*{dimension}/*/versions/*/data/*.parquet")
    content = bytearray(data.read_bytes())
    content[len(content) // 2] ^= 1
    copy = bench.folder / "damaged"
    shutil.copytree(bench.store, copy)
    (copy / data.relative_to(bench.store)).write_bytes(content)
    damaged = Bench(bench.spark, str(copy), bench.folder)
    assert not damaged.is_used(bench.join(dimension))
    shutil.rmtree(copy)
    assert not damaged.is_used(bench.join(dimension))


def test_a_skewed_last_join_answers_the_same_with_a_stale_distribution(bench: Bench) -> None:
    """The stored boundaries no longer fit the data."""
    spark = bench.spark
    spark.sql("CREATE TABLE ticks USING parquet AS SELECT id, 'hot' AS k, id AS ts FROM range(3000)")
    spec = DistributionSpec(partition_by=["k"], order_by="ts", hot=HotKeys(min_rows=10))
    refresh_artifact(spark, ArtifactRequest.of_table("ticks", spec), open_store(spark, bench.store), schema=None)
    spark.sql("INSERT OVERWRITE ticks SELECT id, 'hot', id * 1000 FROM range(3000)")
    query = "SELECT l.id, r.ts FROM ticks l LAST JOIN ticks r ORDER BY r.ts ON l.k = r.k AND r.ts < l.ts"
    assert not bench.is_used(query)
    spark.sql("DROP TABLE ticks")
