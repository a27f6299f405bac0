"""Joinery next to Sedona's extension, listed before ours and after, and next to Comet's plugin, loaded but off.

Runs on Spark 3.5, in a process of its own (the first session's jars stay):

    .venv-spark-3.5/bin/python -m pytest -m lakehouse tests/integration/test_other_extensions.py
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession
from spark_joinery import configure_spark
from spark_joinery.jar import EXTENSION
from support.answers import assert_operator, assert_same_rows, executed_plan, settings

pytestmark = pytest.mark.lakehouse

SEDONA = "org.apache.sedona.sql.SedonaSqlExtensions"
RANGE = "SELECT l.id, r.id AS found FROM l JOIN r ON l.id >= r.id AND l.id < r.id + 3"
WINDOW = "SELECT id, sum(id) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING) AS s FROM l"
# A query of Joinery and a query of stock Spark with the same rows, by operator.
QUERIES = {
    "BroadcastLastJoin": (
        "SELECT l.id, r.id AS found FROM l LAST JOIN r ORDER BY r.id ON l.k = r.k AND r.id <= l.id",
        "SELECT l.id, max(r.id) AS found FROM l LEFT JOIN r ON l.k = r.k AND r.id <= l.id GROUP BY l.id",
    ),
    "BroadcastRangeJoin": (RANGE, RANGE),
    "SlidingWindow": (WINDOW, WINDOW),
}


@pytest.fixture(scope="module", params=["ours last", "ours first"])
def spark(request: pytest.FixtureRequest, other_jars: list[Path]) -> Iterator[SparkSession]:
    assert SparkContext._active_spark_context is None, "another session runs: these tests need a process of their own"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.jars": ",".join(map(str, other_jars)),
        "spark.sql.extensions": SEDONA if request.param == "ours last" else f"{EXTENSION},{SEDONA}",
        "spark.plugins": "org.apache.spark.CometPlugin",
        "spark.comet.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    session = configure_spark(SparkSession.builder.master("local[2]").config(map=settings)).getOrCreate()
    session.range(40).selectExpr("id", "id % 3 AS k").createOrReplaceTempView("l")
    session.range(0, 40, 2).selectExpr("id", "id % 3 AS k").createOrReplaceTempView("r")
    yield session
    session.stop()


@pytest.mark.parametrize("operator", QUERIES)
def test_operator_next_to_other_extensions_has_the_rows_of_stock_spark(spark: SparkSession, operator: str) -> None:
    query, stock_query = QUERIES[operator]
    with settings(spark, {f"spark.joinery.{name}.enabled": "false" for name in ("rangeJoin", "slidingWindow")}):
        expected = spark.sql(stock_query)
        expected.collect()  # Spark keeps the plan of a DataFrame that has run
        assert operator not in executed_plan(expected)
    actual = spark.sql(query)
    assert_same_rows(actual, expected)
    assert_operator(actual, operator)


def test_functions_and_joins_of_sedona_run_next_to_joinery(spark: SparkSession) -> None:
    points = spark.sql("SELECT ST_Point(CAST(id AS DOUBLE), 0.0) AS p FROM l")
    points.createOrReplaceTempView("points")
    joined = spark.sql(
        "SELECT count(*) AS n FROM points JOIN (SELECT ST_PolygonFromEnvelope(0.5, -1.0, 9.5, 1.0) AS area)"
        " ON ST_Contains(area, p)"
    )
    assert joined.first()[0] == 9
