"""Runtime filters in PySpark: hints of DataFrames, Python functions, a session without a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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


def test_a_hint_of_a_frame_skips_the_check_of_costs(spark: SparkSession) -> None:
    small = spark.range(1000).withColumnRenamed("id", "k")
    assert "joinery_might_contain" not in plan(fact(spark).join(small, "k"))
    hinted = fact(spark).join(small.hint("runtime_filter"), "k")
    assert "joinery_might_contain" in plan(hinted)
    assert hinted.count() == 20_000


def test_keys_behind_a_function_in_python_make_a_filter(spark: SparkSession) -> None:
    odd = f.udf(lambda k: k % 2 == 1, "boolean")
    small = spark.range(100).withColumnRenamed("id", "k").where(odd("k"))
    joined = fact(spark).join(small.hint("runtime_filter"), "k")
    assert "joinery_might_contain" in plan(joined)
    assert len(joined.collect()) == 1000
    assert " 50 keys of range" in plan(joined)


def test_a_key_that_fails_passes_the_filter_before_a_function_in_python(spark: SparkSession) -> None:
    """Spark computes the Python function after all other predicates, so the filter sees rows that it would drop."""
    is_number = f.udf(lambda text: text.isdigit(), "boolean")
    texts = spark.createDataFrame([(1, "3"), (2, "x")], "id INT, s STRING")
    small = spark.range(5).selectExpr("int(id) AS k").hint("runtime_filter")
    key = f.expr("int(s) = k")
    assert "joinery_might_contain" in plan(texts.where("id < 2").join(small, key))
    joined = texts.where(is_number("s")).join(small, key)
    assert "joinery_might_contain" in plan(joined)
    assert [row.id for row in joined.collect()] == [1]


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


@pytest.mark.parametrize("code", ["CODEGEN_ONLY", "NO_CODEGEN"])
def test_one_table_in_two_roles(spark: SparkSession, tmp_path: Path, code: str) -> None:
    """The same filter tests two columns of one table, and Spark must not share one result between them."""
    columns = spark.range(20_000).select("id", (f.col("id") % 100).alias("k"), (f.col("id") % 70).alias("other"))
    columns.write.parquet(str(tmp_path / "fact"))
    few = "(SELECT * FROM VALUES (3), (5), (7) AS t(x))"
    query = f"SELECT f.id FROM parquet.`{tmp_path}/fact` f JOIN {few} a ON f.k = a.x RIGHT JOIN {few} b ON other = b.x"
    with settings(
        spark,
        {"spark.sql.codegen.factoryMode": code, "spark.sql.codegen.wholeStage": str(code != "NO_CODEGEN").lower()},
    ):
        found = spark.sql(query)
        with settings(spark, WITHOUT):
            expected = sorted(spark.sql(query).collect())
        assert sorted(found.collect()) == expected
    final = plan(found).partition("== Initial Plan ==")[0]
    assert sum(line.count("joinery_might_contain") for line in final.splitlines() if " Filter " in line) == 2
