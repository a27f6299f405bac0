"""Row counts and boundaries against a plain computation in Python, for every type of column."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, Row, SparkSession
from spark_joinery.jobs import ColumnMissingError, ColumnUnusableError
from spark_joinery.jobs.builders.built import DriftError
from spark_joinery.jobs.builders.hot_keys import hot_from
from spark_joinery.metadata import DistributionSpec, HotKeys
from spark_joinery.store import ArtifactVersion
from support.artifacts import Workshop

ALL_HOT = HotKeys(min_rows=1)


def spec(
    n: int = 4, hot: HotKeys | None = ALL_HOT, keys: tuple[str, ...] = ("k",), order: str = "v"
) -> DistributionSpec:
    return DistributionSpec(partition_by=list(keys), order_by=order, quantiles=n, hot=hot)


def computed(
    folder: Path, frame: DataFrame, wanted: DistributionSpec, base: ArtifactVersion | None = None
) -> tuple[ArtifactVersion, DataFrame]:
    version = Workshop.below(folder, frame).build(frame, wanted, base)
    return version, frame.sparkSession.read.parquet(version.data_path)


def by_key(table: DataFrame) -> dict[Any, Row]:
    return {row["k"]: row for row in table.collect()}


def boundaries(values: list[Any], n: int) -> list[Any]:
    """Boundaries by their definition: the values at ranks ceil(i * N / n) of the sorted values, each value once."""
    ordered = sorted(value for value in values if value is not None)
    ranks = [math.ceil(i * len(ordered) / n) for i in range(1, n)] if ordered else []
    chosen = [ordered[rank - 1] for rank in ranks]
    return [value for i, value in enumerate(chosen) if i == 0 or value != chosen[i - 1]]


DAY = dt.datetime(2013, 1, 1)
VALUES = {
    "int": [i * 7 % 101 for i in range(60)],
    "bigint": [2**63 - 1, -(2**63), *range(40)],
    "double": [i / 7 for i in range(50)] + [float("inf"), float("-inf")],
    "decimal(38,10)": [Decimal(i).scaleb(-10) + 10**27 for i in range(45)],
    "string": [chr(0x41 + i % 26) * (i % 5) + "é" for i in range(60)],
    "boolean": [True, False, False],
    "binary": [bytearray([i % 7, 255 - i]) for i in range(40)],
    "date": [dt.date(1, 1, 1), dt.date(9999, 12, 31)] + [dt.date(2013, 1, 1) + dt.timedelta(i) for i in range(40)],
    "timestamp": [DAY + dt.timedelta(microseconds=i * i) for i in range(50)],
    "timestamp_ntz": [DAY.replace(year=1800) + dt.timedelta(hours=i) for i in range(50)],
    "interval day to second": [dt.timedelta(seconds=i * 3) for i in range(40)],
    "array<int>": [[i % 3, i] for i in range(40)],
}


SKETCHED = {"int", "bigint", "double", "date", "timestamp", "timestamp_ntz"}


@pytest.mark.parametrize("type_name", VALUES)
def test_boundaries_of_each_type(spark: SparkSession, tmp_path: Path, type_name: str) -> None:
    """A sketch keeps all of so few rows, so its boundaries are exact, too."""
    values = VALUES[type_name] + [None] * 5
    random.Random(7).shuffle(values)
    frame = spark.createDataFrame([("a", value) for value in values], f"k string, v {type_name}")
    version, table = computed(tmp_path, frame, spec(6))
    (row,) = table.collect()
    assert table.schema["quantiles"].dataType.simpleString() == f"array<{frame.schema['v'].dataType.simpleString()}>"
    expected = boundaries([bytes(v) if isinstance(v, bytearray) else v for v in values], 6)
    assert [bytes(v) if isinstance(v, bytearray) else v for v in row["quantiles"]] == expected
    assert (row["row_count"], row["null_count"]) == (len(values), 5)
    assert (row["rank_error"] > 0) == (version.description["rank_error"] > 0) == (type_name in SKETCHED)


NULLABLE_INTS = st.one_of(st.none(), st.integers(-3, 12))
KEYS = st.sampled_from(["a", "b", None])
ROWS = st.lists(st.tuples(KEYS, NULLABLE_INTS), max_size=60)


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(rows=ROWS, more=ROWS, n=st.integers(2, 9), order=st.sampled_from(["int", "string"]))
def test_any_rows_with_ties_and_nulls(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[Any, Any]],
    more: list[tuple[Any, Any]],
    n: int,
    order: str,
) -> None:
    def frame(of: list[tuple[Any, Any]]) -> DataFrame:
        return spark.createDataFrame(of, "k string, v int").selectExpr("k", f"cast(v AS {order}) v")

    folder = tmp_path_factory.mktemp("any")
    version, table = computed(folder, frame(rows), spec(n))
    check_against(rows, version, table, n, str if order == "string" else int)
    if order == "int":
        version, table = computed(folder, frame(more), spec(n), version)
        check_against(rows + more, version, table, n, int)


def check_against(rows: list[tuple[Any, Any]], version: ArtifactVersion, table: DataFrame, n: int, cast: Any) -> None:
    """Compare a computed table with the definition."""
    groups = defaultdict(list)
    for key, value in rows:
        groups[key].append(None if value is None else cast(value))
    found = by_key(table)
    assert {key: row["row_count"] for key, row in found.items()} == Counter(key for key, _ in rows)
    assert {key: row["null_count"] for key, row in found.items()} == {k: v.count(None) for k, v in groups.items()}
    assert {key: row["quantiles"] for key, row in found.items()} == {k: boundaries(v, n) for k, v in groups.items()}
    described = version.description
    assert (described["rows"], described["keys"]) == (len(rows), len(groups))
    assert described["null_keys"] == sum(key is None for key, _ in rows)
    assert described["order_nulls"] == sum(value is None for _, value in rows)


@pytest.mark.parametrize("order", ["v", "cast(v AS string)"])
def test_a_hot_key_among_many(spark: SparkSession, tmp_path: Path, order: str) -> None:
    """There are more keys than are counted one by one. Types without a sketch are divided by ranges of values."""
    frame = spark.range(90_000).selectExpr("if(id % 3 = 0, 'cold' || id, 'hot') k", "(id * 7919) % 90011 v")
    version, table = computed(tmp_path, frame.selectExpr("k", f"{order} v"), spec(16, HotKeys(min_share=0.1)))
    values = sorted((i * 7919 % 90011 for i in range(90_000) if i % 3), key=int if order == "v" else str)
    (hot,) = table.where("is_hot").collect()
    assert (hot["k"], hot["row_count"]) == ("hot", 60_000)
    ranks = [values.index(value if order == "v" else int(value)) / 60_000 for value in hot["quantiles"]]
    assert ranks == pytest.approx([i / 16 for i in range(1, 16)], abs=version.description["rank_error"] + 1e-4)
    assert version.description["keys"] == pytest.approx(30_001, rel=4 * version.description["keys_relative_error"])
    assert (version.description["rows"], version.description["hot_keys"]) == (90_000, 1)
    assert table.count() == (1 if order == "v" else 30_001)


def test_rows_are_added(spark: SparkSession, tmp_path: Path) -> None:
    wanted = spec(4, HotKeys(min_share=0.1))
    rows = spark.range(90_000).selectExpr("if(id % 3 = 0, 'cold' || id, 'hot') k", "id v")
    first, _ = computed(tmp_path, rows.where("v < 60000"), wanted)
    version, table = computed(tmp_path, rows.where("v >= 60000"), wanted, first)
    (hot,) = table.where("is_hot").collect()
    assert (hot["k"], hot["row_count"], version.description["rows"]) == ("hot", 60_000, 90_000)
    assert [value / 90_000 for value in hot["quantiles"]] == pytest.approx([0.25, 0.5, 0.75], abs=0.003)
    assert version.description["keys"] == pytest.approx(30_001, rel=0.04)
    assert version.description["missing_below"] > first.description["missing_below"]


def test_new_rows_of_a_key_that_was_not_counted_are_not_overlooked(spark: SparkSession, tmp_path: Path) -> None:
    """Only the thousand keys with the most new rows are counted. The next key had too few rows before to be kept."""
    wanted = spec(4, HotKeys(min_rows=100))
    small = spark.range(12_000).selectExpr("-id - 2 k", "id v").union(spark.range(20).selectExpr("-1L k", "id v"))
    frequent = spark.range(40_000).selectExpr("id % 1000 k", "id v")
    first, table = computed(tmp_path, frequent.where("id < 30000").union(small), wanted)
    assert table.where("k < 0").isEmpty()
    more = frequent.union(spark.range(39).selectExpr("-1L k", "id v"))
    version, table = computed(tmp_path, more, wanted, first)
    assert version.description["missing_below"] > 59
    assert table.where("k < 0").isEmpty()


def test_a_key_that_has_become_hot_is_drift(spark: SparkSession, tmp_path: Path) -> None:
    wanted = spec(4, HotKeys(min_share=0.1))
    many = spark.range(30_000).selectExpr("cast(id % 20000 AS string) k", "id v")
    first, _ = computed(tmp_path, many, wanted)
    with pytest.raises(DriftError, match="may have been overlooked"):
        computed(tmp_path, spark.range(9_000).selectExpr("'7' k", "id v"), wanted, first)
    assert not spark.sparkContext._jsc.getPersistentRDDs(), "what was cached is let go"

    few = spark.range(30_000).selectExpr("cast(id % 200 AS string) k", "id v")
    first, _ = computed(tmp_path, few, wanted)
    with pytest.raises(DriftError, match="1 keys have become hot"):
        computed(tmp_path, spark.range(9_000).selectExpr("'7' k", "id v"), wanted, first)
    _, table = computed(tmp_path, spark.range(9_000).selectExpr("'new' k", "id v"), wanted, first)
    assert by_key(table.where("is_hot"))["new"]["row_count"] == 9_000


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        ("cast(id AS string)", "cast(id AS string)", "exact quantiles cannot be added to"),
        ("cast(id AS double)", "double('nan')", "exact quantiles cannot be added to"),
        ("double('nan')", "cast(id AS double)", "exact quantiles cannot be added to"),
    ],
)
def test_what_has_no_sketch_is_drift(spark: SparkSession, tmp_path: Path, first: str, then: str, message: str) -> None:
    version, _ = computed(tmp_path, spark.range(5).selectExpr("id % 2 k", f"{first} v"), spec())
    with pytest.raises(DriftError, match=message):
        computed(tmp_path, spark.range(5).selectExpr("id % 2 k", f"{then} v"), spec(), version)


def test_thousands_of_hot_keys_have_exact_quantiles(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(9_000).selectExpr("id % 3000 k", "id v")
    version, table = computed(tmp_path, frame, spec(3))
    assert (version.description["rank_error"], version.description["hot_keys"]) == (0.0, 3_000)
    assert by_key(table)[5]["quantiles"] == [5, 3005]


def test_nan_is_the_greatest_value_and_zero_has_no_sign(spark: SparkSession, tmp_path: Path) -> None:
    values = [float("nan")] * 2 + [1.0, -0.0, 0.0, 2.0]
    frame = spark.createDataFrame([("a", value) for value in values], "k string, v double")
    assert by_key(computed(tmp_path, frame, spec(3))[1])["a"]["quantiles"] == [0.0, 2.0]
    assert str(by_key(computed(tmp_path, frame, spec(6))[1])["a"]["quantiles"]) == "[0.0, 1.0, 2.0, nan]"


def test_float_keys_group_like_spark(spark: SparkSession, tmp_path: Path) -> None:
    keys = [float("nan"), float("nan"), -0.0, 0.0, None]
    frame = spark.createDataFrame([(key, i) for i, key in enumerate(keys)], "k double, v int")
    rows = {
        str(key): (row["row_count"], row["quantiles"])
        for key, row in by_key(computed(tmp_path, frame, spec(2))[1]).items()
    }
    assert rows == {"nan": (2, [0]), "0.0": (2, [2]), "None": (1, [4])}


@pytest.mark.parametrize("order", ["timestamp_ntz", "string"])
def test_a_hot_key_without_order_values_is_one_part(spark: SparkSession, tmp_path: Path, order: str) -> None:
    frame = spark.createDataFrame([("a", None), ("a", None)], f"k string, v {order}")
    row = by_key(computed(tmp_path, frame, spec())[1])["a"]
    assert (row["row_count"], row["null_count"], row["is_hot"], row["quantiles"]) == (2, 2, True, [])


@pytest.mark.parametrize("order", ["date", "string"])
def test_an_empty_table_has_no_keys(spark: SparkSession, tmp_path: Path, order: str) -> None:
    version, table = computed(tmp_path, spark.createDataFrame([], f"k int, v {order}"), spec(hot=None))
    assert table.collect() == []
    assert [version.description[name] for name in ("rows", "keys", "hot_keys")] == [0, 0, 0]
    assert table.schema["quantiles"].dataType.simpleString() == f"array<{order}>"


def test_several_keys_with_odd_names(spark: SparkSession, tmp_path: Path) -> None:
    rows_of_keys = [(1, None, 5), (1, None, 6), (1, "x", 7)]
    frame = spark.createDataFrame(rows_of_keys, "`a.b` int, `odd ``key` string, `the v` int")
    wanted = spec(2, keys=("A.B", "odd `key"), order="the v")
    _, table = computed(tmp_path, frame, wanted)
    assert table.columns == ["a.b", "odd `key", "row_count", "is_hot", "quantiles", "null_count", "rank_error"]
    rows = sorted((tuple(row)[:5] for row in table.collect()), key=str)
    assert rows == [(1, "x", 1, True, [7]), (1, None, 2, True, [5])]


@pytest.mark.parametrize("order", ["int", "string"])
def test_keys_may_be_called_what_a_job_calls_them(spark: SparkSession, tmp_path: Path, order: str) -> None:
    frame = spark.createDataFrame([(1, "x", 7), (1, "x", 8)], "key1 int, key0 string, value int")
    wanted = spec(keys=("key1", "key0"), order="value")
    _, table = computed(tmp_path, frame.withColumn("value", frame.value.cast(order)), wanted)
    assert table.columns[:2] == ["key1", "key0"]
    assert [tuple(row)[:3] for row in table.collect()] == [(1, "x", 2)]


def test_small_relations_have_no_hot_keys_by_default() -> None:
    assert hot_from(336_776, None) == 100_000
    assert hot_from(50_000_000, None) == 500_000


def test_a_key_is_hot_when_it_passes_every_limit_given() -> None:
    assert hot_from(100, HotKeys(min_share=0.07)) == 7
    assert hot_from(100, HotKeys(min_share=0.07, min_rows=9)) == 9
    assert hot_from(100, HotKeys(min_rows=3)) == 3


def test_a_missing_column_is_named_with_those_there_are(spark: SparkSession, tmp_path: Path) -> None:
    message = r"raw\.t has no column 'nope'\. Its columns are: k, v\."
    with pytest.raises(ColumnMissingError, match=message):
        computed(tmp_path, spark.createDataFrame([], "k int, v int"), spec(order="nope"))


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("k int, v map<int,int>", r"column 'v' of type map<int,int> cannot be ordered"),
        ("k variant, v int", r"column 'k' of type variant cannot be grouped"),
    ],
)
def test_types_without_order_are_refused(spark: SparkSession, tmp_path: Path, schema: str, message: str) -> None:
    with pytest.raises(ColumnUnusableError, match=message):
        computed(tmp_path, spark.createDataFrame([], schema), spec())


def test_a_key_must_not_be_called_like_a_result_column(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([], "Is_Hot int, v int")
    with pytest.raises(ColumnUnusableError, match="'Is_Hot' has the name of a column"):
        computed(tmp_path, frame, spec(keys=("is_hot",)))
