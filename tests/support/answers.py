"""Check an answer against stock Spark, and the operator that computed it.

The first check alone would pass if Joinery quietly left every query to Spark; the second alone if it gave wrong rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spark_joinery.plan_report import explain_dataframe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STOCK = {"spark.joinery.lastJoin.enabled": "false", "spark.joinery.rangeJoin.enabled": "false"}


@contextmanager
def settings(spark: SparkSession, confs: Mapping[str, str]) -> Iterator[None]:
    """Set confs of a session within a block, and restore them at its end.

    Args:
        spark: The session.
        confs: Settings that can change at run time.
    """
    before = {key: spark.conf.get(key, None) for key in confs}
    for key, value in confs.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def row_counts(frame: DataFrame) -> Counter[str]:
    """Collect a DataFrame as a multiset.

    Args:
        frame: Any DataFrame.

    Returns:
        How often each row occurs. Rows are compared as text, so NULL equals NULL, NaN equals NaN, and 0.0 is
        not -0.0, at any depth.
    """
    return Counter(repr(tuple(row)) for row in frame.collect())


def executed_plan(frame: DataFrame) -> str:
    """Show the physical plan, which is the final one if an action has run on this DataFrame object.

    Args:
        frame: A classic DataFrame.

    Returns:
        The plan as in EXPLAIN.
    """
    return str(frame._jdf.queryExecution().executedPlan().toString())


def assert_operator(frame: DataFrame, operator: str) -> None:
    """Assert that an operator is in the physical plan.

    Args:
        frame: A classic DataFrame, best after an action.
        operator: The whole name, such as ``SortMergeLastJoin``.
    """
    plan = executed_plan(frame)
    # adaptive plans also print the initial plan, which may have operators that did not run
    final = plan.partition("== Initial Plan ==")[0]
    assert re.search(rf"\b{re.escape(operator)}\b", final), f"no {operator} in\n{plan}"


def assert_same_rows(actual: DataFrame, expected: DataFrame) -> None:
    """Assert equal column names and types, and the same rows, each as often, in any order.

    Args:
        actual: The answer that is tested.
        expected: The right answer.
    """
    columns = [(field.name, field.dataType) for field in actual.schema.fields]
    assert columns == [(field.name, field.dataType) for field in expected.schema.fields]
    found, right = row_counts(actual), row_counts(expected)
    assert found == right, f"missing: {dict(right - found)}\nunexpected: {dict(found - right)}"


def stock_answer(spark: SparkSession, sql: str) -> DataFrame:
    """Run a query in stock Spark.

    Args:
        spark: A classic session.
        sql: The query.

    Returns:
        The DataFrame. It has run, so Spark keeps its plan.
    """
    with settings(spark, STOCK):
        frame = spark.sql(sql)
        frame.collect()
    return frame


def assert_same_as_stock(spark: SparkSession, sql: str, oracle_sql: str, operator: str) -> None:
    """Assert that a query gives the rows of another query in stock Spark, and runs in a given operator.

    Args:
        spark: A classic session with the jar.
        sql: The query that is tested, such as one with LAST JOIN.
        oracle_sql: Ordinary SQL with the same meaning.
        operator: The operator that must have computed the tested query.
    """
    actual = spark.sql(sql)
    with settings(spark, STOCK):
        assert_same_rows(actual, spark.sql(oracle_sql))
    assert_operator(actual, operator)


def assert_declined(spark: SparkSession, sql: str, reason: str) -> None:
    """Assert that Joinery left a join or window of a query to Spark for a given reason.

    Args:
        spark: A classic session with the jar.
        sql: The query.
        reason: Part of the reason.
    """
    report = explain_dataframe(spark.sql(sql))
    left_to_spark = [entry for entry in report if not entry.joinery]
    assert any(reason in entry.reason for entry in left_to_spark), f"no such reason in {report}"
