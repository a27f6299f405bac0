"""Joinery's operators run Spark's as-of join from Python: `_joinAsOf` and pandas-on-Spark's `merge_asof`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from support.answers import assert_operator


@pytest.fixture(scope="module")
def trades(spark: SparkSession) -> DataFrame:
    rows = [(1, "A", 10), (2, "A", 20), (3, "B", 5), (4, None, 10), (5, "C", 10), (6, "A", None)]
    return spark.createDataFrame(rows, "trade INT, symbol STRING, at INT")


@pytest.fixture(scope="module")
def quotes(spark: SparkSession) -> DataFrame:
    rows = [("A", 10, 1.0), ("A", 14, 2.0), ("A", 25, None), ("A", None, 4.0), ("B", 7, 5.0), (None, 9, 6.0)]
    return spark.createDataFrame(rows, "symbol STRING, quoted INT, price DOUBLE")


@pytest.fixture
def left_to_spark(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.joinery.asofJoin.enabled", "false")
    yield
    spark.conf.unset("spark.joinery.asofJoin.enabled")


CASES: list[tuple[dict[str, Any], list[tuple[int, float | None]]]] = [
    ({}, [(1, 1.0), (2, 2.0)]),
    ({"how": "left"}, [(1, 1.0), (2, 2.0), (3, None), (4, None), (5, None), (6, None)]),
    ({"tolerance": 5}, [(1, 1.0)]),
    ({"allowExactMatches": False}, [(2, 2.0)]),
    ({"direction": "forward"}, [(1, 1.0), (2, None), (3, 5.0)]),
    ({"direction": "forward", "allowExactMatches": False, "tolerance": 5}, [(1, 2.0), (3, 5.0)]),
]


def join(trades: DataFrame, quotes: DataFrame, options: dict[str, Any]) -> DataFrame:
    tolerance = {"tolerance": F.lit(options["tolerance"])} if "tolerance" in options else {}
    joined = trades._joinAsOf(quotes, trades.at, quotes.quoted, on="symbol", **(options | tolerance))
    return joined.select("trade", "price")


@pytest.mark.parametrize(("options", "expected"), CASES)
def test_join_as_of(
    trades: DataFrame, quotes: DataFrame, options: dict[str, Any], expected: list[tuple[int, float | None]]
) -> None:
    joined = join(trades, quotes, options)
    assert sorted(map(tuple, joined.collect())) == expected
    assert_operator(joined, "BroadcastLastJoin")


@pytest.mark.usefixtures("left_to_spark")
@pytest.mark.parametrize(("options", "expected"), CASES)
def test_join_as_of_left_to_spark(
    trades: DataFrame, quotes: DataFrame, options: dict[str, Any], expected: list[tuple[int, float | None]]
) -> None:
    joined = join(trades, quotes, options)
    assert sorted(map(tuple, joined.collect())) == expected
    assert "LastJoin" not in joined._jdf.queryExecution().executedPlan().toString()


def test_nearest_is_left_to_spark_and_says_so(spark: SparkSession, trades: DataFrame, quotes: DataFrame) -> None:
    spark.conf.set("spark.joinery.explain", "true")
    try:
        joined = join(trades, quotes, {"direction": "nearest"})
        shown = spark._jvm.PythonSQLUtils.explainString(joined._jdf.queryExecution(), "simple")
    finally:
        spark.conf.unset("spark.joinery.explain")
    assert "direction nearest: Joinery looks backwards or forwards only" in shown
    assert "LastJoin" not in shown


def test_merge_asof(spark: SparkSession) -> None:
    import pyspark.pandas as ps  # imported here, because it warns about the environment when imported

    left = pd.DataFrame({"a": [1, 5, 10], "g": ["x", "x", "y"], "left_val": ["a", "b", "c"]})
    right = pd.DataFrame({"a": [1, 2, 3, 6, 7], "g": ["x", "x", "y", "y", "y"], "right_val": [1, 2, 3, 6, 7]})
    for options in ({}, {"by": "g"}, {"tolerance": 2}, {"allow_exact_matches": False}, {"direction": "forward"}):
        merged = ps.merge_asof(ps.from_pandas(left), ps.from_pandas(right), **({"on": "a"} | options))
        expected = pd.merge_asof(left, right, **({"on": "a"} | options))
        columns = list(expected.columns)
        assert_operator(merged.to_spark(), "BroadcastLastJoin")
        found = merged.to_pandas()[columns].sort_values("left_val").reset_index(drop=True)
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)
