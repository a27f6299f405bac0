"""Case tpch: other people's queries: what Joinery costs those who ask for none of it, and where it fires."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks.common import rounds
from benchmarks.common.data import FILES
from benchmarks.common.planner import JARS, Jar, Planned
from benchmarks.common.rounds import OURS, Bound, Kind, Outcome, compare
from benchmarks.common.spark import register, session
from benchmarks.common.verdict import AT_TUNED, judge, requirements, times
from benchmarks.report import Result
from benchmarks.tpch.answers import STOCK, engines, same_plan
from benchmarks.tpch.data import GENERATOR, tables
from benchmarks.tpch.planning import ROUNDS as PLANNING_ROUNDS
from benchmarks.tpch.planning import WARM_UP_ROUNDS, planning_times
from benchmarks.tpch.queries import QUERIES
from benchmarks.tpch.rows import SortedRows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_LEAST = 0.95
MOST_PLANNING = 1.05
ROUNDS = 4  # even, as each side is first in every other one
KINDS: tuple[Kind, ...] = ("default", "tuned")
SAME_PLAN = "none, the plan is stock Spark's"
COLUMNS = [
    "query", "joinery, s", "stock Spark, s", "times Joinery's",
    f"at {AT_TUNED}: joinery, s", "stock Spark, s", "times Joinery's", "required", "",
    "shuffled: joinery, MB", "stock Spark, MB",
    "planning with the jar, ms", "without, ms", "with / without", "Joinery's operators",
]  # fmt: skip
NOTES = [
    f"The 22 queries of TPC-H with the parameters of its validation; tables of scale factor 1 by {GENERATOR}, each as "
    f"{FILES} files of Parquet. Every query computes every row and column, into Spark's noop sink, on two cores, 8 GB.",
    "joinery and stock Spark share a session; in the runs of stock Spark all settings `spark.joinery.*.enabled` are "
    "off. Joinery's rules are there even then, and leave each plan as it is: what they cost is in the planning times.",
    f"Medians of {ROUNDS} rounds, each side in turn and first in every other round, after a warm-up, with planning.",
    f"Planning: medians of {PLANNING_ROUNDS} rounds after {WARM_UP_ROUNDS} to warm up, from text to physical plan, in "
    "two JVMs in turn, of which one does not have the jar. The bound is for all queries together, and the ratio the "
    "median over rounds of (with / without in the same round).",
    "Shuffled: bytes that all tasks of the last run at Spark's defaults wrote into shuffles, the build of filters "
    "with them.",
    "Whole answers are compared before anything is timed, to the last digit, rows in any order.",
    f"`{SAME_PLAN}`: before it runs, to the letter. By what such a query is faster or slower is chance.",
]


@dataclass(frozen=True, kw_only=True)
class Case(rounds.Case):
    """One query.

    Args:
        sql: It.
    """

    sql: str


CASES = [
    Case(
        name=name, sql=sql, bounds=tuple(Bound((STOCK,), AT_LEAST, kind) for kind in KINDS), rounds=ROUNDS, fires=False
    )
    for name, sql in QUERIES.items()
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: TPC-H's scale factor. Below 1 only agreement is judged.

    Returns:
        Times of each query, and what planning it takes.
    """
    planned = planning_times(scale)
    spark = session()
    try:
        register(spark, tables(scale))
        outcomes = [measure(spark, case, scale) for case in CASES]
    finally:
        spark.stop()
    return result(outcomes, planned, scale)


def measure(spark: SparkSession, case: Case, scale: float) -> Outcome:
    """Run one query.

    Args:
        spark: The session, with the tables registered.
        case: The query.
        scale: Of the data.

    Returns:
        Times, operators and disagreements.
    """
    both = engines(spark, case.sql)
    outcome = compare(case, both, SortedRows(), scale)
    if not outcome.engines[OURS].operators:
        both[OURS].remark = SAME_PLAN if same_plan(both) else "none"
    return outcome


def result(outcomes: Sequence[Outcome], planned: Planned, scale: float) -> Result:
    """The page.

    Args:
        outcomes: Of the queries.
        planned: What planning them took, in the same order.
        scale: Of the data. Below 1 no time is judged.
    """
    judged = judge("tpch", f"TPC-H at scale factor {scale:g}, query by query", outcomes, scale, NOTES)
    ratio = planned.ratio()
    planning = [f"planning {ratio:.3f} times, at most {MOST_PLANNING}"] if scale == 1 else []
    fired = [outcome.case.name for outcome in outcomes if outcome.engines[OURS].operators]
    return replace(
        judged,
        columns=COLUMNS,
        rows=[*(_row(outcome, planned, i, scale) for i, outcome in enumerate(outcomes)), _sums(outcomes, planned)],
        verdict="; ".join([judged.verdict, *planning, f"Joinery's operators in {', '.join(fired) or 'no query'}"]),
        met=judged.met and (scale < 1 or ratio <= MOST_PLANNING),
        data={**judged.data, "planning": _planning(outcomes, planned)},
        plot=None,
    )


def _row(outcome: Outcome, planned: Planned, i: int, scale: float) -> list[str]:
    measured = outcome.engines[OURS]
    seconds = [cell for kind in KINDS for cell in (times(outcome, OURS, kind)[0], *times(outcome, STOCK, kind))]
    planning = [f"{planned.seconds_of(i, jar) * 1000:.1f}" for jar in JARS]
    return [
        outcome.case.name, *seconds, *requirements(outcome, STOCK, KINDS, judged=scale == 1),
        *(f"{_shuffled(outcome, name):.1f}" for name in (OURS, STOCK)),
        *planning, f"{planned.ratio_of(i):.3f}", ", ".join(measured.operators) or measured.engine.remark,
    ]  # fmt: skip


def _shuffled(outcome: Outcome, name: str) -> float:
    """MB that the last run at Spark's defaults wrote into shuffles."""
    return outcome.engines[name].runs[-1].shuffled


def _sums(outcomes: Sequence[Outcome], planned: Planned) -> list[str]:
    """The row below the queries: the sums of the medians, and the rounds' totals of planning."""
    cells = []
    for kind in KINDS:
        ours, theirs = (sum(outcome.engines[name].seconds(kind) for outcome in outcomes) for name in (OURS, STOCK))
        cells += [f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.2f}"]
    planning = [f"{statistics.median(planned.totals(jar)) * 1000:.1f}" for jar in JARS]
    shuffled = [f"{sum(_shuffled(outcome, name) for outcome in outcomes):.1f}" for name in (OURS, STOCK)]
    return ["all", *cells, "", "", *shuffled, *planning, f"{planned.ratio():.3f}", ""]


def _planning(outcomes: Sequence[Outcome], planned: Planned) -> dict[str, dict[Jar, list[float]]]:
    """Milliseconds of each round, by query and jar."""
    return {
        outcome.case.name: {jar: [round(round_[jar][i] * 1000, 2) for round_ in planned.rounds] for jar in JARS}
        for i, outcome in enumerate(outcomes)
    }
