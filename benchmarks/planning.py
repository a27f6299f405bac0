"""Case 0: what the jar costs queries that it has nothing to do with: planning time of 100 ordinary queries.

Two JVMs, one with the jar and one without, plan the same queries in turn, so that whatever else the machine does meets
both alike.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.ordinary import QUERIES, TABLES
from benchmarks.report import ROOT, Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WARM_UP_ROUNDS = 8
ROUNDS = 31
BOUND = 1.05


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Of the data, of which there is none here.

    Returns:
        Milliseconds per 100 queries with the jar and without, and their ratio.
    """
    with _Planner("on") as on, _Planner("off") as off:
        first = {planner.jar: planner.plan_all() for planner in (on, off)}
        for _ in range(WARM_UP_ROUNDS - 1):
            on.plan_all(), off.plan_all()
        pairs = []
        for i in range(ROUNDS):  # who goes first alternates
            turn = (on, off) if i % 2 else (off, on)
            times = {planner.jar: planner.plan_all() for planner in turn}
            pairs.append((times["on"], times["off"]))
    with_jar, without = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    return Result(
        case="planning",
        title=f"Planning time of {len(QUERIES)} ordinary queries",
        columns=["", "jar", "median, ms per 100 queries", "fastest, ms"],
        rows=[
            ["warm", "on", f"{with_jar * 1000:.0f}", f"{min(a for a, _ in pairs) * 1000:.0f}"],
            ["", "off", f"{without * 1000:.0f}", f"{min(b for _, b in pairs) * 1000:.0f}"],
            ["first run in a fresh JVM", "on", f"{first['on'] * 1000:.0f}", ""],
            ["", "off", f"{first['off'] * 1000:.0f}", ""],
        ],
        verdict=f"median ratio on / off {ratio:.3f}, at most {BOUND}",
        met=ratio <= BOUND,
        notes=[
            f"{ROUNDS} rounds in two JVMs in turn, after {WARM_UP_ROUNDS} to warm up; from text to physical plan.",
            "First run: the first time that each JVM plans the queries, once.",
            "The ratio is the median over rounds of (on / off in the same round).",
        ],
    )


class _Planner:
    """A process with a Spark session that plans all queries once per line it is sent."""

    def __init__(self, jar: str) -> None:
        self.jar = jar

    def __enter__(self) -> _Planner:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.planning", self.jar],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(timeout=60)

    def plan_all(self) -> float:
        """Seconds to plan every query once."""
        assert self.process.stdin
        assert self.process.stdout
        print("round", file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the planner with jar={self.jar} died; run `python -m benchmarks.planning {self.jar}`")
        return float(line)


def _serve(jar: str) -> None:
    spark = session(jar)
    for _ in sys.stdin:
        start = time.perf_counter()
        for query in QUERIES:
            spark.sql(query)._jdf.queryExecution().executedPlan()
        print(time.perf_counter() - start, flush=True)


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
    _serve(sys.argv[1])
