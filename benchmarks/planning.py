"""Case 0: the cost of the jar for unrelated queries, in planning time of 100 ordinary queries.

`python -m benchmarks.planning on|off` serves, see `planner`.
"""

from __future__ import annotations

import statistics
import sys
from typing import TYPE_CHECKING

from benchmarks.common.planner import plan_in_turn, serve
from benchmarks.ordinary import QUERIES, TABLES
from benchmarks.report import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WARM_UP_ROUNDS = 8
ROUNDS = 31
BOUND = 1.05


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Has no effect, because the tables are empty.

    Returns:
        Milliseconds per 100 queries with the jar and without, and their ratio.
    """
    planned = plan_in_turn("benchmarks.planning", warm_up=WARM_UP_ROUNDS, rounds=ROUNDS)
    on, off, ratio = planned.totals("on"), planned.totals("off"), planned.ratio()
    return Result(
        case="planning",
        title=f"Planning time of {len(QUERIES)} ordinary queries",
        columns=["", "jar", "median, ms per 100 queries", "fastest, ms"],
        rows=[
            ["warm", "on", *_ms(statistics.median(on), min(on))],
            ["", "off", *_ms(statistics.median(off), min(off))],
            ["first run in a fresh JVM", "on", *_ms(sum(planned.first["on"])), ""],
            ["", "off", *_ms(sum(planned.first["off"])), ""],
        ],
        verdict=f"median ratio on / off {ratio:.3f}, at most {BOUND}",
        met=ratio <= BOUND,
        notes=[
            f"{ROUNDS} rounds in two JVMs in turn, after {WARM_UP_ROUNDS} to warm up; from text to physical plan.",
            "First run: the first time that each JVM plans the queries, once.",
            "The ratio is the median over rounds of (on / off in the same round).",
        ],
    )


def _ms(*seconds: float) -> list[str]:
    return [f"{value * 1000:.0f}" for value in seconds]


def session(jar: str) -> SparkSession:
    """A session with the tables of the ordinary queries, all empty.

    Args:
        jar: "on" or "off".
    """
    from pyspark.sql import SparkSession
    from spark_joinery import configure_spark

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
    builder = builder.config("spark.sql.catalogImplementation", "in-memory")
    spark = (configure_spark(builder) if jar == "on" else builder).getOrCreate()
    for name, schema in TABLES.items():
        spark.createDataFrame([], schema).createOrReplaceTempView(name)
    return spark


if __name__ == "__main__":
    serve(session(sys.argv[1]), QUERIES)
