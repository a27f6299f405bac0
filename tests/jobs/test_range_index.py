"""Range indexes hold all rows in order, also after rows are added."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from spark_joinery.jobs import ColumnMissingError, ColumnUnusableError
from spark_joinery.jobs.builders.built import DriftError
from spark_joinery.metadata import RangeIndexSpec
from spark_joinery.store import ArtifactVersion
from support.artifacts import Workshop


def built(
    folder: Path, frame: DataFrame, base: ArtifactVersion | None = None, **spec: Any
) -> tuple[ArtifactVersion, list[list[tuple[Any, ...]]]]:
    """Build a version; returns it with the rows of each run, in the order of its files."""
    spark = frame.sparkSession
    version = Workshop.below(folder, frame).build(frame, RangeIndexSpec(**spec), base)
    runs = []
    for files in version.description["runs"]:
        rows: list[tuple[Any, ...]] = []
        for file in files:
            rows += map(tuple, spark.read.parquet(f"{version.data_path}/{file}").coalesce(1).collect())
        runs.append(rows)
    return version, runs


def in_order(rows: list[tuple[Any, ...]], bounds: int) -> bool:
    keys = [[(value is not None, value or 0) for value in row[:bounds]] for row in rows]
    return keys == sorted(keys)


BOUND = st.one_of(st.none(), st.integers(-9, 9))
INTERVALS = st.lists(st.tuples(BOUND, BOUND, st.integers(0, 5)), max_size=40)


@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(before=INTERVALS, more=INTERVALS)
def test_all_rows_in_sorted_runs(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, before: list[Any], more: list[Any]
) -> None:
    """The rows include NULL bounds and intervals that end before they start, because an outer join needs them."""
    folder = tmp_path_factory.mktemp("any")
    schema, spec = "s int, e int, id int", {"start": "s", "end": "E", "columns": ["id"]}
    first, runs = built(folder, spark.createDataFrame(before, schema), **spec)
    assert first.description["sorted_by"] == ["s", "e"]
    assert all(in_order(run, 2) for run in runs)
    assert sorted(map(repr, chain(*runs))) == sorted(map(repr, before))
    try:
        version, runs = built(folder, spark.createDataFrame(more, schema), first, **spec)
    except DriftError:
        assert len(more) > 0.2 * len(before)
        return
    assert len(runs) == 2
    assert all(in_order(run, 2) for run in runs)
    assert sorted(map(repr, chain(*runs))) == sorted(map(repr, before + more))
    assert version.description["rows"] == len(before + more)
    assert version.description["null_rows"] == sum(s is None or e is None for s, e, _ in before + more)


def test_points_over_several_files(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(0, 30_000, 1, 4).selectExpr("timestamp_micros((id * 7919) % 30011) ts", "id", "'x' other")
    spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    try:
        version, (run,) = built(tmp_path, frame, point="ts", columns=["id"])
    finally:
        spark.conf.unset("spark.sql.adaptive.coalescePartitions.enabled")
    assert len(version.description["runs"][0]) > 1
    assert [len(row) for row in run[:1]] == [2]
    assert [row[0] for row in run] == sorted(row[0] for row in run)
    assert len({row[1] for row in run}) == 30_000


def test_nothing_is_added_to_an_index_that_has_lost_rows(spark: SparkSession, tmp_path: Path) -> None:
    first, _ = built(tmp_path, spark.range(1000).selectExpr("id p"), point="p")
    file = Path(first.data_path.removeprefix("file:"), first.description["runs"][0][0])
    spark.range(1).selectExpr("id p").coalesce(1).write.parquet(str(tmp_path / "less"))
    (less,) = (tmp_path / "less").glob("*.parquet")
    less.replace(file)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    with pytest.raises(DriftError, match=r"the former version holds \d+ rows instead of 1,000"):
        built(tmp_path, spark.range(1000, 1010).selectExpr("id p"), first, point="p")


def test_many_runs_are_drift(spark: SparkSession, tmp_path: Path) -> None:
    version, _ = built(tmp_path, spark.range(100).selectExpr("id ts"), point="ts")
    for _ in range(7):
        version, runs = built(tmp_path, spark.range(3).selectExpr("id ts"), version, point="ts")
    assert [len(run) for run in runs] == [100] + [3] * 7
    with pytest.raises(DriftError, match="8 runs"):
        built(tmp_path, spark.range(3).selectExpr("id ts"), version, point="ts")


@pytest.mark.parametrize(
    ("schema", "error", "message"),
    [
        ("s int, e date", ColumnUnusableError, "'s' is of type int and 'e' of type date; .* need one type"),
        ("s map<int,int>, e int", ColumnUnusableError, "column 's' of type map<int,int> cannot bound a range"),
        ("s int", ColumnMissingError, "has no column 'e'"),
    ],
)
def test_what_cannot_be_indexed_is_refused(
    spark: SparkSession, tmp_path: Path, schema: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        built(tmp_path, spark.createDataFrame([], schema), start="s", end="e")
