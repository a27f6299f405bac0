"""last_join() by hidden columns of a side: selected away, aggregated, or metadata of its files."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from spark_joinery import last_join
from support.answers import assert_operator


@pytest.fixture(scope="module")
def flights(spark: SparkSession) -> DataFrame:
    rows = [(1, "EWR", 10), (2, "EWR", 20), (3, "JFK", 5), (4, None, 10), (5, "LGA", 10), (1, "EWR", 10)]
    return spark.createDataFrame(rows, "flight INT, origin STRING, departs INT")


@pytest.fixture(scope="module")
def stored(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """The weather with distinct winds, in a file, so that it has metadata columns."""
    path = str(tmp_path_factory.mktemp("stored") / "weather")
    rows = [("EWR", 10, 1.0), ("EWR", 15, 2.0), ("EWR", 25, 3.0), ("JFK", 7, 5.0), ("JFK", 6, 4.0), ("LGA", 2, 6.0)]
    spark.createDataFrame(rows, "origin STRING, observed INT, wind DOUBLE").coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


@pytest.mark.parametrize(
    ("fewer", "order_by", "column"),
    [
        (lambda right: right.select("origin", "wind"), lambda right: "observed", "wind"),
        (lambda right: right.drop("observed"), lambda right: ["observed"], "wind"),
        (lambda right: right.select("origin", "wind"), lambda right: right.observed, "wind"),
        (lambda right: right.select("origin", "observed"), lambda right: ["observed", "wind"], "observed"),
        (lambda right: right, lambda right: ["observed", F.col("_metadata.file_name")], "wind"),
        (lambda right: right.drop("wind"), lambda right: ["observed", "_metadata.file_name"], "observed"),
        (
            lambda right: right.groupBy("origin", "observed").agg(F.max("wind").alias("wind")),
            lambda right: [F.col("observed"), F.count(F.lit(1))],
            "wind",
        ),
    ],
    ids=["selected away", "dropped", "of the frame before", "tie-break", "metadata", "metadata, dropped", "aggregate"],
)
@pytest.mark.parametrize("tolerance", [None, 4])
@pytest.mark.parametrize("hides", ["right", "both"])
def test_columns_that_a_side_does_not_show(
    flights: DataFrame, stored: DataFrame, fewer: Any, order_by: Any, column: str, tolerance: int | None, hides: str
) -> None:
    left, right = flights if hides == "right" else flights.select("flight", "origin"), fewer(stored)
    winds = {1: 1.0, 2: None if tolerance else 2.0, 3: None, 4: None, 5: None if tolerance else 6.0}
    times = {None: None, 1.0: 10, 2.0: 15, 6.0: 2}
    joined = last_join(left, right, on="origin", order_by=order_by(stored), as_of="departs", tolerance=tolerance)
    assert joined.columns == ["origin", *left.columns[:1], *left.columns[2:], *right.columns[1:]]
    found = [(flight, winds[flight] if column == "wind" else times[winds[flight]]) for flight in (1, 1, 2, 3, 4, 5)]
    assert sorted(map(tuple, joined.select("flight", column).collect())) == found
    assert_operator(joined, "BroadcastLastJoin")


@pytest.mark.parametrize(("tolerance", "found"), [(None, [None, 5.0]), (1, [None, None])])
def test_order_by_an_aggregate_that_is_not_shown(
    spark: SparkSession, stored: DataFrame, tolerance: int | None, found: list[float | None]
) -> None:
    left = spark.createDataFrame([("EWR", 24), ("JFK", 9)], "origin STRING, departs INT")
    strongest = stored.groupBy("origin").agg(F.max("wind").alias("wind"))
    order = F.max("observed")  # 25 for EWR, 7 for JFK
    joined = last_join(left, strongest, on="origin", order_by=order, as_of="departs", tolerance=tolerance)
    assert [row.wind for row in joined.orderBy("origin").collect()] == found
