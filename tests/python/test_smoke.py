"""The installed package on any supported Spark: the jar loads, and LAST JOIN and range joins work.

The tests only need pyspark, pytest and spark-joinery. To run them on another Spark line, with the wheel installed:

    .venv-spark-4.1/bin/python -m pytest tests/python/test_smoke.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import spark_joinery
from pyspark.sql import functions as F
from spark_joinery import last_join, range_join

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.smoke


def test_the_jar_is_loaded(spark: SparkSession) -> None:
    row = spark.sql("SELECT joinery_version()").first()
    assert row is not None
    assert row[0] == spark_joinery.__version__


@pytest.mark.parametrize(
    ("threshold", "operator"), [("10MB", "BroadcastLastJoin"), ("-1", "ShuffledHashLastJoin")], ids=lambda value: value
)
def test_last_join_in_sql(spark: SparkSession, threshold: str, operator: str) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", threshold)
    try:
        joined = spark.sql("""
            SELECT l.id, r.id AS found
            FROM range(6) l LAST JOIN (SELECT id, id % 3 AS k FROM range(9)) r ORDER BY r.id
              ON l.id = r.k AND r.id <= l.id + 4""")
        rows = sorted(map(tuple, joined.collect()))
        plan = joined._jdf.queryExecution().executedPlan().toString()
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert rows == [(0, 3), (1, 4), (2, 5), (3, None), (4, None), (5, None)]
    assert operator in plan


def test_last_join_on_dataframes(spark: SparkSession) -> None:
    left, right = spark.range(4), spark.range(9).select((F.col("id") % 3).alias("id"), F.col("id").alias("at"))
    joined = last_join(left, right, on="id", order_by=F.col("at").desc())
    assert sorted(map(tuple, joined.collect())) == [(0, 0), (1, 1), (2, 2), (3, None)]


def test_range_join_on_dataframes(spark: SparkSession) -> None:
    points = spark.range(6).select((F.col("id") % 2).alias("k"), F.col("id").alias("at"))
    intervals = spark.range(2).select(F.col("id").alias("k"), (F.col("id") + 1).alias("lo"), F.lit(4).alias("hi"))
    joined = range_join(points, intervals, on="k", how="right", left_point="at", right_interval=("lo", "hi"))
    assert joined.columns == ["k", "at", "lo", "hi"]
    assert sorted(map(tuple, joined.collect())) == [(0, 2, 1, 4), (0, 4, 1, 4), (1, 3, 2, 4)]
    assert "RangeJoin" in joined._jdf.queryExecution().executedPlan().toString()
