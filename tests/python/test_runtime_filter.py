"""Runtime filters as PySpark has them: hints of DataFrames, functions in Python, a session without a store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from support.answers import settings

NO_BROADCAST = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
}
WITHOUT = {"spark.joinery.runtimeFilter.enabled": "false"}


@pytest.fixture(scope="module", autouse=True)
def nothing_broadcast(spark: SparkSession) -> Iterator[None]:
    with settings(spark, NO_BROADCAST):
        yield


def fact(spark: SparkSession, rows: int = 20_000) -> DataFrame:
    return spark.range(rows).select("id", (f.col("id") % 1000).alias("k"))


def plan(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def test_a_predicate_of_the_small_side_makes_a_filter_and_the_answer_is_the_same(spark: SparkSession) -> None:
    def joined() -> DataFrame:
        small = spark.range(500).withColumnRenamed("id", "k").where("k % 50 = 7")
        return fact(spark, 200_000).join(small, "k")

    assert "joinery_might_contain" in plan(joined())
    with settings(spark, WITHOUT):
        expected = sorted(joined().collect())
        assert "joinery" not in plan(joined())
    assert sorted(joined().collect()) == expected
    assert len(expected) == 2000


def test_a_hint_of_a_frame_insists(spark: SparkSession) -> None:
    small = spark.range(1000).withColumnRenamed("id", "k")
    assert "joinery_might_contain" not in plan(fact(spark).join(small, "k"))
    hinted = fact(spark).join(small.hint("runtime_filter"), "k")
    assert "joinery_might_contain" in plan(hinted)
    assert hinted.count() == 20_000


def test_no_filter_of_what_python_computes(spark: SparkSession) -> None:
    odd = f.udf(lambda k: k % 2 == 1, "boolean")
    small = spark.range(100).withColumnRenamed("id", "k").where(odd("k"))
    joined = fact(spark).join(small.hint("runtime_filter"), "k")
    assert "joinery_might_contain" not in plan(joined)
    assert joined.count() == 1000


@pytest.mark.parametrize(
    "predicate", ["k IN (SELECT k FROM few WHERE v = 3)", "EXISTS (SELECT 1 FROM few s WHERE s.v = 3 AND s.k = l.k)"]
)
def test_subqueries_of_a_query_as_text(spark: SparkSession, predicate: str) -> None:
    fact(spark).createOrReplaceTempView("legs")
    spark.range(1000).selectExpr("id AS k", "id % 100 AS v").createOrReplaceTempView("few")
    query = f"SELECT id FROM legs l WHERE {predicate}"
    with settings(spark, WITHOUT):
        expected = sorted(spark.sql(query).collect())
    found = spark.sql(query)
    assert "joinery_might_contain" in plan(found)
    assert sorted(found.collect()) == expected
    assert len(expected) == 200
