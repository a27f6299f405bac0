"""The page of a suite: what Joinery costs those who ask for none of it, and where it fires."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchmarks.common import rounds
from benchmarks.common.planner import JARS, Jar, Planned
from benchmarks.common.rounds import OURS, Bound, Outcome, compare
from benchmarks.common.spark import register, session
from benchmarks.common.verdict import AT_TUNED, judge, requirements, times
from benchmarks.report import Result
from benchmarks.tpc.answers import STOCK, engines, same_plan
from benchmarks.tpc.planning import planning_times
from benchmarks.tpc.suite import Suite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_LEAST = 0.95
MOST_PLANNING = 1.05
SAME_PLAN = "none, the plan is stock Spark's"


@dataclass(frozen=True, kw_only=True)
class Case(rounds.Case):
    """One query.

    Args:
        sql: It.
        suite: That it belongs to.
    """

    sql: str
    suite: Suite


def cases(suite: Suite) -> list[Case]:
    """A case for each query of a suite.

    Args:
        suite: It.
    """
    bounds = tuple(Bound((STOCK,), AT_LEAST, kind) for kind in suite.kinds)
    return [
        Case(
            name=name, sql=sql, suite=suite, bounds=bounds, rounds=suite.rounds, closer=suite.closer,
            fires=False, tuned="tuned" in suite.kinds,
        )
        for name, sql in suite.queries().items()
    ]  # fmt: skip


def run(suite: Suite, scale: float = 1) -> Result:
    """Measure.

    Args:
        suite: Of queries.
        scale: Its scale factor. Below 1 only agreement is judged.

    Returns:
        Times of each query, and what planning it takes.
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
        scale: Of the data.

    Returns:
        Times, operators and disagreements.
    """
    both = engines(spark, case.sql, case.suite.digest)
    outcome = compare(case, both, case.suite.digest, scale)
    if not outcome.engines[OURS].operators:
        both[OURS].remark = SAME_PLAN if same_plan(both) else "none"
    return outcome


def result(suite: Suite, outcomes: Sequence[Outcome], planned: Planned, scale: float) -> Result:
    """The page.

    Args:
        suite: Of queries.
        outcomes: Of the queries.
        planned: What planning them took, in the same order.
        scale: Of the data. Below 1 no time is judged.
    """
    title = f"{suite.title} at scale factor {scale:g}, query by query"
    judged = judge(suite.name, title, outcomes, scale, _notes(suite))
    ratio = planned.ratio()
    planning = [f"planning {ratio:.3f} times, at most {MOST_PLANNING}"] if scale == 1 else []
    fired = [outcome.case.name for outcome in outcomes if outcome.engines[OURS].operators]
    rows = [_row(suite, outcome, planned, i, scale) for i, outcome in enumerate(outcomes)]
    return replace(
        judged,
        columns=_columns(suite),
        rows=[*rows, _sums(suite, outcomes, planned)],
        verdict="; ".join([judged.verdict, *planning, f"Joinery's operators in {', '.join(fired) or 'no query'}"]),
        met=judged.met and (scale < 1 or ratio <= MOST_PLANNING),
        data={**judged.data, "planning": _planning(outcomes, planned)},
        plot=None,
    )


def _columns(suite: Suite) -> list[str]:
    sides = ["joinery, s", "stock Spark, s", "times Joinery's"]
    tuned = [f"at {AT_TUNED}: {sides[0]}", *sides[1:]] if "tuned" in suite.kinds else []
    return [
        "query", *sides, *tuned, "required", "",
        "shuffled: joinery, MB", "stock Spark, MB",
        "planning with the jar, ms", "without, ms", "with / without", "Joinery's operators",
    ]  # fmt: skip


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
        "Shuffled: bytes that all tasks of the last run at Spark's defaults wrote into shuffles, the build of filters "
        "with them.",
        f"Before anything is timed, answers are compared: {suite.digest.compared}.",
        f"`{SAME_PLAN}`: before it runs, to the letter. By what such a query is faster or slower is chance.",
    ]


def _row(suite: Suite, outcome: Outcome, planned: Planned, i: int, scale: float) -> list[str]:
    measured = outcome.engines[OURS]
    kinds = suite.kinds
    seconds = [cell for kind in kinds for cell in (times(outcome, OURS, kind)[0], *times(outcome, STOCK, kind))]
    planning = [f"{planned.seconds_of(i, jar) * 1000:.1f}" for jar in JARS]
    return [
        outcome.case.name, *seconds, *requirements(outcome, STOCK, kinds, judged=scale == 1),
        *(f"{_shuffled(outcome, name):.1f}" for name in (OURS, STOCK)),
        *planning, f"{planned.ratio_of(i):.3f}", ", ".join(measured.operators) or measured.engine.remark,
    ]  # fmt: skip


def _shuffled(outcome: Outcome, name: str) -> float:
    """MB that the last run at Spark's defaults wrote into shuffles."""
    return outcome.engines[name].runs[-1].shuffled


def _sums(suite: Suite, outcomes: Sequence[Outcome], planned: Planned) -> list[str]:
    """The row below the queries: the sums of the medians, and the rounds' totals of planning."""
    cells = []
    for kind in suite.kinds:
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
