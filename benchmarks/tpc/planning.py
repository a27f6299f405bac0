"""The cost of the jar in planning a suite. `python -m benchmarks.tpc.planning on|off tpch|tpcds SCALE` serves."""

from __future__ import annotations

import sys

from benchmarks.common.planner import Planned, plan_in_turn, serve
from benchmarks.common.spark import register, session
from benchmarks.tpc.suite import Suite
from benchmarks.tpc.suites import SUITES

HEAP = {"spark.driver.memory": "2g"}  # two of these JVMs run at once, and neither reads a row


def planning_times(suite: Suite, scale: float) -> Planned:
    """Plan all queries in two JVMs in turn.

    Args:
        suite: The suite of queries.
        scale: Scale of the data. Below 1 there is one round.

    Returns:
        Times of the queries in their order.
    """
    suite.tables(scale)  # made here, so that the processes do not both make them
    return plan_in_turn(
        "benchmarks.tpc.planning", suite.name, f"{scale:g}",
        warm_up=suite.planning_warm_up if scale == 1 else 1, rounds=suite.planning_rounds if scale == 1 else 1,
    )  # fmt: skip


def _serve(jar: str, suite: Suite, scale: float) -> None:
    spark = session(HEAP, joinery=jar == "on")
    register(spark, suite.tables(scale))
    serve(spark, suite.queries().values())


if __name__ == "__main__":
    _serve(sys.argv[1], SUITES[sys.argv[2]], float(sys.argv[3]))
