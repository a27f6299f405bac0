"""The cost of the index by its rows: to build, to search, and for a second join that reads the same index."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmarks.common.cores import tasks
from benchmarks.common.spark import Spark, operators, register, session
from benchmarks.range_join import queries as q
from benchmarks.range_join.data import addresses, tables
from benchmarks.range_join.run import LARGE_INDEX, OPERATOR
from benchmarks.range_join.sums import RowSums
from benchmarks.report import Result, Section

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POINTS = 1_000_000
RANGES = tuple(1_000_000 << power for power in range(5))
ROUNDS = 3
COLLECTED = {"spark.driver.maxResultSize": "4g"}  # the indexed rows on their way to the driver
MEMORY = {"spark.driver.memory": "12g"}  # for an index of 1.4 GB, while the index before is still cleaned up
QUESTION = q.Question()
HINT = "BROADCAST(r)"
REUSED = "ReusedExchange"
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Cost:
    """Medians for one number of ranges.

    Args:
        ranges: Rows of the indexed side.
        points: Rows of the streamed side.
        query_s: The join.
        build_s: Time to build the index, as the operator says.
        probe_cpu_s: Seconds of a core that the stage with the join used; it scans the points as well.
        size: The size of the index, as the operator says.
        twice_s: One query that joins half of the points, and the other half.
        operators: Joinery's operators in the plans.
        reused: Whether the second join of that query read the index of the first.
        problem: The difference of the answers; empty if they agree.
    """

    ranges: int
    points: int
    query_s: float
    build_s: float
    probe_cpu_s: float
    size: str
    twice_s: float
    operators: list[str]
    reused: bool
    problem: str

    @property
    def build_each_ns(self) -> float:
        """Nanoseconds of building, divided by n log2 n for n ranges."""
        return self.build_s * 1e9 / (self.ranges * math.log2(max(self.ranges, 2)))

    @property
    def probe_each_ns(self) -> float:
        """Nanoseconds of probing for each point."""
        return self.probe_cpu_s * 1e9 / self.points


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.

    Returns:
        Cost by rows of the indexed side. It is not met if the operator is not in a plan, or the index is built twice.
    """
    spark = session(COLLECTED | MEMORY)
    try:
        costs = [cost(spark, ranges, scale) for ranges in RANGES]
    finally:
        spark.stop()
    return result(costs)


def cost(spark: SparkSession, ranges: int, scale: float) -> Cost:
    """Measure one size.

    Args:
        spark: The session.
        ranges: Rows of the indexed side.
        scale: Scale of the ranges and of the points.
    """
    shape = addresses(POINTS, ranges).scaled(scale)
    register(spark, tables(shape))
    digest = RowSums()
    once = Spark(spark, q.range_join(QUESTION, HINT), LARGE_INDEX, digest, OPERATOR)
    halves = [q.range_join(QUESTION, HINT, f"(SELECT * FROM l WHERE id % 2 = {half})") for half in (0, 1)]
    twice = Spark(spark, " UNION ALL ".join(halves), LARGE_INDEX, digest, OPERATOR)
    problem = digest.differ(twice.check().digest, once.check().digest)
    runs, probes, both = [], [], []
    for _ in range(ROUNDS if scale == 1 else 1):
        runs.append(once.answer())
        ran = tasks(spark, once.group)
        last = max(task.stage for task in ran)
        probes.append(sum(task.cpu_s for task in ran if task.stage == last))
        both.append(twice.answer())
    return Cost(
        ranges=shape.right,
        points=shape.left,
        query_s=statistics.median(run.seconds for run in runs),
        build_s=statistics.median(seconds(run.metrics.get("time to build the index", "0 ms")) for run in runs),
        probe_cpu_s=statistics.median(probes),
        size=runs[-1].metrics.get("index size", ""),
        twice_s=statistics.median(run.seconds for run in both),
        # no operators if one run lacks them
        operators=operators(runs[-1].plan) if all(operators(run.plan) for run in (*runs, *both)) else [],
        reused=all(REUSED in run.plan.split("== Initial Plan ==")[0] for run in both),
        problem=problem,
    )


def seconds(shown: str) -> float:
    """The seconds of a time as Spark's UI shows it.

    Example:
        >>> seconds("1.5 m")
        90.0
    """
    found = re.fullmatch(r"([\d.,]+) (ms|s|m|h)", shown.replace("min", "m"))
    if not found:
        raise ValueError(f"no time: {shown}")
    return float(found[1].replace(",", "")) * UNITS[found[2]]


def result(costs: Sequence[Cost]) -> Result:
    """The page.

    Args:
        costs: Costs in the order of rows, each with about twice as many rows as the one before.
    """
    failed = [f"{c.ranges:,} ranges: no operator" for c in costs if OPERATOR not in c.operators]
    failed += [f"{c.ranges:,} ranges: the index is built twice" for c in costs if not c.reused]
    failed += [f"{c.ranges:,} ranges: the join in two halves {c.problem}" for c in costs if c.problem]
    growth = [
        [
            f"{before.ranges:,} to {after.ranges:,}",
            *(f"{new / old:.2f}" if old else "" for new, old in _pairs(before, after)),
        ]
        for before, after in pairwise(costs)
    ]
    return Result(
        case="range_index",
        title=f"Range join of {costs[0].points:,} points, cost against the rows of the index",
        columns=[
            *("ranges", "query, s", "index built in, s", "ns of n log2 n", "probes, CPU s", "ns of a point"),
            *("index size", "two joins of one index, s", "operator"),
        ],
        rows=[
            [
                *(f"{c.ranges:,}", f"{c.query_s:.2f}", f"{c.build_s:.2f}", f"{c.build_each_ns:.2f}"),
                *(f"{c.probe_cpu_s:.2f}", f"{c.probe_each_ns:.0f}", c.size, f"{c.twice_s:.2f}"),
                ", ".join([*c.operators, *([REUSED] if c.reused else [])]),
            ]
            for c in costs
        ],
        verdict="; ".join(failed) or "the operator is in every plan, and one index serves two joins; no bound",
        met=not failed,
        notes=[
            f"Medians of {ROUNDS} rounds, at Spark's defaults, after the answers were compared. The ranges are "
            "disjoint and cover the same space, so that each point has one match or none for any number of them.",
            "Index built in: the operator's metric, on one core of the driver; what else the query takes is the scan "
            "of the ranges, their way to the driver, and the probes. Probes: CPU of the stage that joins, which scans "
            "the points as well. A search is of log n steps, but more of them miss the processor's cache.",
            "The driver has 12 GB: with 8, the index of one query may still be there when that of the next is built.",
            "Two joins of one index: a query that joins half of the points, and the other half, with the same ranges.",
        ],
        data={f"{c.ranges}": asdict(c) for c in costs},
        sections=[
            Section(
                "Times, for twice the rows (2 is linear; n log n is 2.1)",
                ["ranges", "query", "index built", "probes, CPU", "two joins of one index"],
                growth,
            )
        ],
    )


def _pairs(before: Cost, after: Cost) -> list[tuple[float, float]]:
    return [
        (after.query_s, before.query_s), (after.build_s, before.build_s), (after.probe_cpu_s, before.probe_cpu_s),
        (after.twice_s, before.twice_s),
    ]  # fmt: skip
