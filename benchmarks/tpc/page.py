"""The page of a suite: the cost of Joinery for queries without its syntax, and the queries that get its operators."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks.common import rounds
from benchmarks.common.planner import JARS, Jar, Planned
from benchmarks.common.rounds import OURS, Bound, Outcome, compare
from benchmarks.common.spark import Spark, register, session
from benchmarks.common.verdict import judge, requirements, times
from benchmarks.overview import ALL_QUERIES
from benchmarks.report import Result
from benchmarks.tpc.answers import STOCK, engines, same_plan
from benchmarks.tpc.planning import planning_times
from benchmarks.tpc.suite import Suite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_LEAST = 0.95
ALL = "joinery, shuffleWidth all"
ALL_AT_LEAST = 1.25  # over all queries together
MOST_PLANNING = 1.05
SAME_PLAN = "none, the plan is stock Spark's"
COLUMNS = [
    "query", "joinery, s", "stock Spark, s", "times Joinery's", "required", "",
    "with shuffleWidth all, s", "stock / that", "shuffled: joinery, MB", "stock Spark, MB",
    "planning with the jar, ms", "without, ms", "with / without", "Joinery's operators",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Case(rounds.Case):
    """One query.

    Args:
        sql: The query.
        suite: The suite of the query.
    """

    sql: str
    suite: Suite


def cases(suite: Suite) -> list[Case]:
    """A case for each query of a suite.

    Args:
        suite: The suite.
    """
    bounds = (Bound((STOCK,), AT_LEAST),)
    return [
        Case(name=name, sql=sql, suite=suite, bounds=bounds, rounds=suite.rounds, closer=suite.closer, fires=False)
        for name, sql in suite.queries().items()
    ]


def run(suite: Suite, scale: float = 1) -> Result:
    """Measure.

    Args:
        suite: The suite of queries.
        scale: The suite's scale factor. Below 1 only agreement is judged.

    Returns:
        The times of each query, to run it and to plan it.
    """
    planned = planning_times(suite, scale)
    spark = session()
    try:
        register(spark, suite.tables(scale))
        outcomes = [measure(spark, case, scale) for case in cases(suite)]
    finally:
        spark.stop()
    return result(suite, outcomes, planned, scale)


def measure(spark: SparkSession, case: Case, scale: float) -> Outcome:
    """Run one query.

    Args:
        spark: The session, with the tables registered.
        case: The query.
        scale: Scale of the data.

    Returns:
        Times, operators and disagreements.
    """
    both = engines(spark, case.sql, case.suite.digest)
    everywhere = Spark(spark, case.sql, {"spark.joinery.shuffleWidth": "all"}, case.suite.digest)
    outcome = compare(case, {**both, ALL: everywhere}, case.suite.digest, scale)
    if not outcome.engines[OURS].operators:
        both[OURS].remark = SAME_PLAN if same_plan(both) else "none"
    return outcome


def result(suite: Suite, outcomes: Sequence[Outcome], planned: Planned, scale: float) -> Result:
    """The page.

    Args:
        suite: The suite of queries.
        outcomes: The outcomes of the queries.
        planned: The times of planning them, in the same order.
        scale: Scale of the data. Below 1 no time is judged.
    """
    title = f"{suite.title} at scale factor {scale:g}, query by query"
    judged = judge(suite.name, title, outcomes, scale, _notes(suite))
    ratio = planned.ratio()
    planning = [f"planning {ratio:.3f} times, at most {MOST_PLANNING}"] if scale == 1 else []
    widths, missed = _widths(outcomes) if scale == 1 else ([], False)
    fired = [outcome.case.name for outcome in outcomes if outcome.engines[OURS].operators]
    rows = [_row(outcome, planned, i, scale) for i, outcome in enumerate(outcomes)]
    return replace(
        judged,
        columns=COLUMNS,
        rows=[*rows, _sums(outcomes, planned)],
        verdict="; ".join(
            [judged.verdict, *widths, *planning, f"Joinery's operators in {', '.join(fired) or 'no query'}"]
        ),
        met=judged.met and not missed and (scale < 1 or ratio <= MOST_PLANNING),
        data={**judged.data, ALL_QUERIES: _sums_kept(outcomes), "planning": _planning(outcomes, planned)},
        plot=None,
    )


def _widths(outcomes: Sequence[Outcome]) -> tuple[list[str], bool]:
    """The gain if all shuffles have the width of their bytes, in words, and whether one of its bounds is missed."""
    theirs, ours = (sum(outcome.engines[name].seconds() for outcome in outcomes) for name in (STOCK, ALL))
    slow = {outcome.case.name: ratio for outcome in outcomes if (ratio := _with_all(outcome)) < AT_LEAST}
    words = [f"shuffleWidth all {theirs / ours:.2f} times as fast as stock in sum, at least {ALL_AT_LEAST}"]
    words += [f"**{name} with shuffleWidth all {ratio:.2f}, at least {AT_LEAST}**" for name, ratio in slow.items()]
    return words, bool(slow) or theirs / ours < ALL_AT_LEAST


def _with_all(outcome: Outcome) -> float:
    """Stock Spark's median, divided by the median if all shuffles have the width of their bytes."""
    return outcome.engines[STOCK].seconds() / outcome.engines[ALL].seconds()


def _notes(suite: Suite) -> list[str]:
    return [
        f"{suite.about} Every query computes every row and column, into Spark's noop sink, on two cores, 8 GB.",
        "joinery and stock Spark share a session; in the runs of stock Spark all settings `spark.joinery.*.enabled` "
        "are off. Joinery's rules are there even then, and leave each plan as it is: what they cost is in the planning "
        "times.",
        f"Medians of {suite.rounds} rounds, each side in turn and first in every other round, after a warm-up, with "
        f"planning; of {suite.closer} where the first {suite.rounds} lie more than 5 % apart, whichever is the faster.",
        f"Planning: medians of {suite.planning_rounds} rounds after {suite.planning_warm_up} to warm up, from text to "
        "physical plan, in two JVMs in turn, of which one does not have the jar. The bound is for all queries "
        "together, and the ratio the median over rounds of (with / without in the same round).",
        "Shuffled: bytes that all tasks of the last run wrote into shuffles, the build of filters with them.",
        "With shuffleWidth all: the setting spark.joinery.shuffleWidth, which gives shuffles of stock plans as many "
        "partitions as their bytes ask for, too. Stock Spark has 200.",
        f"Before anything is timed, answers are compared: {suite.digest.compared}.",
        f"`{SAME_PLAN}`: before it runs, to the letter. By what such a query is faster or slower is chance.",
    ]


def _row(outcome: Outcome, planned: Planned, i: int, scale: float) -> list[str]:
    measured = outcome.engines[OURS]
    seconds = [times(outcome, OURS, "warm")[0], *times(outcome, STOCK, "warm")]
    everywhere = [f"{outcome.engines[ALL].seconds():.2f}", f"{_with_all(outcome):.2f}"]
    planning = [f"{planned.seconds_of(i, jar) * 1000:.1f}" for jar in JARS]
    return [
        outcome.case.name, *seconds, *requirements(outcome, STOCK, "warm", judged=scale == 1), *everywhere,
        *(f"{_shuffled(outcome, name):.1f}" for name in (OURS, STOCK)),
        *planning, f"{planned.ratio_of(i):.3f}", ", ".join(measured.operators) or measured.engine.remark,
    ]  # fmt: skip


def _shuffled(outcome: Outcome, name: str) -> float:
    """MB that the last run at Spark's defaults wrote into shuffles."""
    return outcome.engines[name].runs[-1].shuffled


def _sums(outcomes: Sequence[Outcome], planned: Planned) -> list[str]:
    """The row below the queries: the sums of the medians, and the rounds' totals of planning."""
    ours, theirs, everywhere = (sum(o.engines[name].seconds() for o in outcomes) for name in (OURS, STOCK, ALL))
    cells = [f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.2f}", "", ""]
    cells += [f"{everywhere:.2f}", f"{theirs / everywhere:.2f}"]
    planning = [f"{statistics.median(planned.totals(jar)) * 1000:.1f}" for jar in JARS]
    shuffled = [f"{sum(_shuffled(outcome, name) for outcome in outcomes):.1f}" for name in (OURS, STOCK)]
    return ["all", *cells, *shuffled, *planning, f"{planned.ratio():.3f}", ""]


def _sums_kept(outcomes: Sequence[Outcome]) -> dict[str, dict[str, object]]:
    """The sums of the medians, as the overview of all cases reads them."""
    sums: dict[str, dict[str, object]]
    sums = {name: {"seconds": [sum(o.engines[name].seconds() for o in outcomes)]} for name in (OURS, STOCK, ALL)}
    return {**sums, STOCK: {**sums[STOCK], "required": {"seconds": [ALL_AT_LEAST]}, "against": ALL}}


def _planning(outcomes: Sequence[Outcome], planned: Planned) -> dict[str, dict[Jar, list[float]]]:
    """Milliseconds of each round, by query and jar."""
    return {
        outcome.case.name: {jar: [round(round_[jar][i] * 1000, 2) for round_ in planned.rounds] for jar in JARS}
        for i, outcome in enumerate(outcomes)
    }
