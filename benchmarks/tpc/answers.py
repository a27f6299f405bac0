"""The answers to the queries with Joinery and without, and Joinery's operators in the plans, without times.

`python -m benchmarks.tpc.answers tpch|tpcds SCALE` prints them as JSON, from a JVM as large as the benchmark's.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from benchmarks.common.rounds import OURS
from benchmarks.common.spark import Spark, operators, register, session, stock
from benchmarks.tpc.rows import SortedRows
from benchmarks.tpc.suite import Suite
from benchmarks.tpc.suites import SUITES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STOCK = "stock Spark"


@dataclass(frozen=True)
class Answer:
    """The answers of Joinery and stock Spark to one query.

    Args:
        rows: The rows of Joinery's answer, as text.
        difference: The difference of stock Spark's answer from Joinery's; empty if they agree.
        operators: Joinery's operators in the plan that ran.
        intruders: Joinery's operators in the plan that stock Spark ran; there should be none.
        same_plan: Whether Joinery's plan, before anything runs, equals stock Spark's to the letter.
    """

    rows: list[str]
    difference: str
    operators: list[str]
    intruders: list[str]
    same_plan: bool


def engines(spark: SparkSession, sql: str, digest: SortedRows | None = None) -> dict[str, Spark]:
    """Two engines in one session: Joinery, and stock Spark with Joinery's operators switched off.

    Args:
        spark: The session, with the tables registered.
        sql: The query.
        digest: The digest of its answers; every row, to the last digit, when None.
    """
    digest = digest or SortedRows()
    return {OURS: Spark(spark, sql, {}, digest), STOCK: Spark(spark, sql, stock(spark), digest)}


def same_plan(engines: dict[str, Spark]) -> bool:
    """Whether both plan the query alike. Their times then differ only by chance.

    Args:
        engines: The result of `engines`.
    """
    return engines[OURS].plan() == engines[STOCK].plan()


def answer(spark: SparkSession, sql: str, digest: SortedRows | None = None) -> Answer:
    """Answer a query with Joinery and without.

    Args:
        spark: The session, with the tables registered.
        sql: The query.
        digest: The digest of its answers; every row, to the last digit, when None.

    Returns:
        Whether the answers agree, and which plans ran.
    """
    both = engines(spark, sql, digest)
    ours, theirs = both[OURS].check(), both[STOCK].check()
    return Answer(
        rows=ours.digest,
        difference=SortedRows().differ(theirs.digest, ours.digest),
        operators=operators(ours.plan),
        intruders=operators(theirs.plan),
        same_plan=same_plan(both),
    )


def _serve(suite: Suite, scale: float) -> None:
    spark = session()
    register(spark, suite.tables(scale))
    answers = {name: asdict(answer(spark, sql, suite.digest)) for name, sql in suite.queries().items()}
    print(json.dumps(answers))
    spark.stop()


if __name__ == "__main__":
    _serve(SUITES[sys.argv[1]], float(sys.argv[2]))
