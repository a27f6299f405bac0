"""Planning time with the jar and without it.

Two JVMs, one with the jar and one without, plan the same queries in turn, so that other work of the machine affects
both alike. Switching off Joinery's operators would not be enough, because its rules would still look at every plan.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from benchmarks.report import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Jar = Literal["on", "off"]
JARS: tuple[Jar, ...] = ("on", "off")
Round = dict[Jar, list[float]]  # seconds of each query, planned once with the jar and once without


@dataclass(frozen=True)
class Planned:
    """The time that planning the queries took.

    Args:
        first: The first time that each JVM planned them.
        rounds: The rounds after the JVMs were warm.
    """

    first: Round
    rounds: list[Round]

    def totals(self, jar: Jar) -> list[float]:
        """Seconds for all queries together, by round."""
        return [sum(round_[jar]) for round_ in self.rounds]

    def ratio(self) -> float:
        """The time with the jar divided by that without, for all queries together. It is the median over rounds."""
        return statistics.median(a / b for a, b in zip(self.totals("on"), self.totals("off"), strict=True))

    def seconds_of(self, query: int, jar: Jar) -> float:
        """Median for one query, by its position."""
        return statistics.median(round_[jar][query] for round_ in self.rounds)

    def ratio_of(self, query: int) -> float:
        """The time with the jar divided by that without, for one query. It is the median over rounds."""
        return statistics.median(round_["on"][query] / round_["off"][query] for round_ in self.rounds)


def plan_in_turn(module: str, *arguments: str, warm_up: int, rounds: int) -> Planned:
    """Have two JVMs plan queries in turn.

    Args:
        module: Its main program calls `serve`, in a session with the jar if its first argument is `on`, else without.
        arguments: Further ones of that program.
        warm_up: Rounds that do not count, at least one.
        rounds: Rounds that count.

    Returns:
        The times.
    """
    with _Planner(module, "on", arguments) as on, _Planner(module, "off", arguments) as off:
        first = {planner.jar: planner.plan_all() for planner in (on, off)}
        for _ in range(warm_up - 1):
            on.plan_all(), off.plan_all()
        counted = []
        for i in range(rounds):  # the JVMs take turns in going first
            turn = (on, off) if i % 2 else (off, on)
            counted.append({planner.jar: planner.plan_all() for planner in turn})
    return Planned(first, counted)


def serve(spark: SparkSession, queries: Iterable[str]) -> None:
    """Plan all queries, from text to physical plan, once for each line of the standard input.

    Args:
        spark: The session.
        queries: The queries to plan.
    """
    queries = list(queries)
    for _ in sys.stdin:
        print(json.dumps([_plan(spark, query) for query in queries]), flush=True)


def _plan(spark: SparkSession, query: str) -> float:
    start = time.perf_counter()
    spark.sql(query)._jdf.queryExecution().executedPlan()
    return time.perf_counter() - start


class _Planner:
    """A process that serves."""

    def __init__(self, module: str, jar: Jar, arguments: Iterable[str]) -> None:
        self.jar: Jar = jar
        self.arguments = ["-m", module, jar, *arguments]

    def __enter__(self) -> _Planner:
        self.process = subprocess.Popen(
            [sys.executable, *self.arguments],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(timeout=60)

    def plan_all(self) -> list[float]:
        """Seconds to plan each query once."""
        assert self.process.stdin
        assert self.process.stdout
        print("round", file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the planner died; run `python {' '.join(self.arguments)}`")
        times: list[float] = json.loads(line)
        return times
