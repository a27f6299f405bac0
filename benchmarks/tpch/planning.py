"""What the jar costs while TPC-H's queries are planned: `python -m benchmarks.tpch.planning on|off SCALE` serves."""

from __future__ import annotations

import sys

from benchmarks.common.planner import Planned, plan_in_turn, serve
from benchmarks.common.spark import register, session
from benchmarks.tpch.data import tables
from benchmarks.tpch.queries import QUERIES

WARM_UP_ROUNDS = 8
ROUNDS = 31
HEAP = {"spark.driver.memory": "2g"}  # two of these JVMs run at once, and neither reads a row


def planning_times(scale: float) -> Planned:
    """Plan all queries in two JVMs in turn.

    Args:
        scale: Of the data. Below 1 one round must do.

    Returns:
        Times of the queries in their order.
    """
    tables(scale)  # so that the processes do not both make them
    return plan_in_turn(
        "benchmarks.tpch.planning", f"{scale:g}",
        warm_up=WARM_UP_ROUNDS if scale == 1 else 1, rounds=ROUNDS if scale == 1 else 1,
    )  # fmt: skip


def _serve(jar: str, scale: float) -> None:
    spark = session(HEAP, joinery=jar == "on")
    register(spark, tables(scale))
    serve(spark, QUERIES.values())


if __name__ == "__main__":
    _serve(sys.argv[1], float(sys.argv[2]))
