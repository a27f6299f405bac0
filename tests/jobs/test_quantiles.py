"""Row counts and boundaries against a plain computation in Python, for every type of column."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, Row, SparkSession
from spark_joinery.jobs.skew import (
    ColumnMissingError,
    ColumnUnusableError,
    Distribution,
    hot_from,
    skew_distribution,
)
from spark_joinery.metadata import DistributionSpec, HotKeys

ALL_HOT = HotKeys(min_rows=1)


def spec(
    n: int = 4, hot: HotKeys | None = ALL_HOT, keys: tuple[str, ...] = ("k",), order: str = "v"
) -> DistributionSpec:
    return DistributionSpec(partition_by=list(keys), order_by=order, quantiles=n, hot=hot)


@contextmanager
def computed(frame: DataFrame, wanted: DistributionSpec) -> Iterator[tuple[Distribution, dict[Any, Row]]]:
    with skew_distribution(frame, wanted, "raw.t") as distribution:
        yield distribution, {row["k"]: row for row in distribution.table.collect()}


def boundaries(values: list[Any], n: int) -> list[Any]:
    """The definition, word for word: ranks ceil(i * N / n) of the sorted values, each value once."""
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


@pytest.mark.parametrize("type_name", VALUES)
def test_boundaries_of_each_type_survive_parquet_unchanged(spark: SparkSession, tmp_path: Any, type_name: str) -> None:
    values = VALUES[type_name] + [None] * 5
    random.Random(7).shuffle(values)
    frame = spark.createDataFrame([("a", value) for value in values], f"k string, v {type_name}")
    with skew_distribution(frame, spec(6)) as distribution:
        distribution.table.write.parquet(str(tmp_path / "d"))
    table = spark.read.parquet(str(tmp_path / "d"))
    row = table.first()
    assert row is not None
    assert table.schema["quantiles"].dataType.simpleString() == f"array<{frame.schema['v'].dataType.simpleString()}>"
    expected = boundaries([bytes(v) if isinstance(v, bytearray) else v for v in values], 6)
    assert [bytes(v) if isinstance(v, bytearray) else v for v in row["quantiles"]] == expected
    assert row["row_count"] == len(values)


NULLABLE_INTS = st.one_of(st.none(), st.integers(-3, 12))


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(rows=st.lists(st.tuples(st.sampled_from(["a", "b", None]), NULLABLE_INTS), max_size=60), n=st.integers(2, 9))
def test_any_rows_with_ties_and_nulls(spark: SparkSession, rows: list[tuple[Any, Any]], n: int) -> None:
    with computed(spark.createDataFrame(rows, "k string, v int"), spec(n)) as (distribution, table):
        groups = defaultdict(list)
        for key, value in rows:
            groups[key].append(value)
        assert {key: row["row_count"] for key, row in table.items()} == Counter(key for key, _ in rows)
        assert {key: row["quantiles"] for key, row in table.items()} == {k: boundaries(v, n) for k, v in groups.items()}
        assert (distribution.rows, distribution.keys) == (len(rows), len(groups))


def test_a_big_key_over_many_chunks(spark: SparkSession) -> None:
    frame = spark.range(30_000).selectExpr("if(id % 3 = 0, 'cold' || id, 'hot') k", "(id * 7919) % 30011 v")
    with computed(frame, spec(16, HotKeys(min_share=0.1))) as (distribution, table):
        values = [i * 7919 % 30011 for i in range(30_000) if i % 3]
        assert table["hot"]["quantiles"] == boundaries(values, 16)
        assert table["cold0"]["quantiles"] is None
        assert [row["k"] for row in table.values() if row["is_hot"]] == ["hot"]
        assert (distribution.rows, distribution.keys, distribution.hot_keys) == (30_000, 10_001, 1)


def test_nan_is_the_greatest_value_and_zero_has_no_sign(spark: SparkSession) -> None:
    values = [float("nan")] * 2 + [1.0, -0.0, 0.0, 2.0]
    frame = spark.createDataFrame([("a", value) for value in values], "k string, v double")
    with computed(frame, spec(3)) as (_, table):
        assert table["a"]["quantiles"] == [0.0, 2.0]
    with computed(frame, spec(6)) as (_, table):
        assert str(table["a"]["quantiles"]) == "[0.0, 1.0, 2.0, nan]"


def test_float_keys_group_like_spark(spark: SparkSession) -> None:
    keys = [float("nan"), float("nan"), -0.0, 0.0, None]
    frame = spark.createDataFrame([(key, i) for i, key in enumerate(keys)], "k double, v int")
    with skew_distribution(frame, spec(2)) as distribution:
        rows = {str(row["k"]): (row["row_count"], row["quantiles"]) for row in distribution.table.collect()}
    assert rows == {"nan": (2, [0]), "0.0": (2, [2]), "None": (1, [4])}


def test_a_hot_key_without_order_values_is_one_part(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", None), ("a", None)], "k string, v timestamp_ntz")
    with computed(frame, spec()) as (_, table):
        assert table["a"].asDict() == {"k": "a", "row_count": 2, "is_hot": True, "quantiles": []}


def test_an_empty_table_has_no_keys(spark: SparkSession) -> None:
    with computed(spark.createDataFrame([], "k int, v date"), spec(hot=None)) as (distribution, table):
        assert table == {}
        assert (distribution.rows, distribution.keys, distribution.hot_keys) == (0, 0, 0)
        assert distribution.table.schema["quantiles"].dataType.simpleString() == "array<date>"


def test_several_keys_with_odd_names(spark: SparkSession) -> None:
    rows_of_keys = [(1, None, 5), (1, None, 6), (1, "x", 7)]
    frame = spark.createDataFrame(rows_of_keys, "`a.b` int, `odd ``key` string, `the v` int")
    wanted = spec(2, keys=("A.B", "odd `key"), order="the v")
    with skew_distribution(frame, wanted) as distribution:
        assert distribution.table.columns == ["a.b", "odd `key", "row_count", "is_hot", "quantiles"]
        rows = sorted(map(tuple, distribution.table.collect()), key=str)
    assert rows == [(1, "x", 1, True, [7]), (1, None, 2, True, [5])]


def test_small_relations_have_no_hot_keys_by_default() -> None:
    assert hot_from(336_776, None) == 100_000
    assert hot_from(50_000_000, None) == 500_000


def test_a_key_is_hot_when_it_passes_every_limit_given() -> None:
    assert hot_from(100, HotKeys(min_share=0.07)) == 7
    assert hot_from(100, HotKeys(min_share=0.07, min_rows=9)) == 9
    assert hot_from(100, HotKeys(min_rows=3)) == 3


def test_a_missing_column_is_named_with_those_there_are(spark: SparkSession) -> None:
    message = r"raw\.t has no column 'nope'\. Its columns are: k, v\."
    with (
        pytest.raises(ColumnMissingError, match=message),
        computed(spark.createDataFrame([], "k int, v int"), spec(order="nope")),
    ):
        pass


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("k int, v map<int,int>", r"column 'v' of type map<int,int> cannot be ordered"),
        ("k variant, v int", r"column 'k' of type variant cannot be grouped"),
    ],
)
def test_types_without_order_are_refused(spark: SparkSession, schema: str, message: str) -> None:
    with pytest.raises(ColumnUnusableError, match=message), computed(spark.createDataFrame([], schema), spec()):
        pass


def test_a_key_must_not_be_called_like_a_result_column(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], "Is_Hot int, v int")
    with (
        pytest.raises(ColumnUnusableError, match="'Is_Hot' has the name of a column"),
        computed(frame, spec(keys=("is_hot",))),
    ):
        pass
