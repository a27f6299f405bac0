"""Figures held against their bounds, as the table that is committed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from benchmarks.common.plot import draw
from benchmarks.common.rounds import FIRST_ROUNDS, SLOW_FIRST_RUN, Bound, Case, Kind, Measured, Outcome
from benchmarks.common.spark import TUNED, session
from benchmarks.report import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AnyCase = TypeVar("AnyCase", bound=Case)

AT_TUNED = ", ".join(f"{name.removeprefix('spark.sql.')} {value}" for name, value in TUNED.items())
COLUMNS = [
    "case", "engine", "median, s", "times Joinery's", f"at {AT_TUNED}: s", "times Joinery's", "required", "",
    "operator or remark",
]  # fmt: skip
FIRST_RUN = "first run in a fresh JVM"
NOTES = [
    "Every engine reads the same Parquet files on two cores and computes every row and column: Spark into "
    "its noop sink, DuckDB into a temporary table, Polars into a DataFrame. Joinery and stock Spark share a JVM, 8 GB.",
    "Medians of up to five rounds (three above 1.5 s, two above 5 s), each engine in turn, after a warm-up.",
    f"Seconds and ratios are those at Spark's defaults; next to them stand those at {AT_TUNED}, four per core.",
    "First run: a new process starts a session, which knows the tables, and times its first query; the files are in "
    f"the system's cache. Stock Spark runs without the jar. At Spark's defaults {FIRST_ROUNDS} times for Joinery and, "
    f"of each bound, the peer that is the fastest in a warm JVM, once where that takes more than {SLOW_FIRST_RUN:g} s; "
    f"once for the others. At {AT_TUNED} once for each, unless a bound is on first runs there.",
    "`>`: stopped there, past 20 times Joinery's time or past its bound. An engine that never ended is not compared.",
]


def run_cases(
    name: str,
    title: str,
    cases: Sequence[AnyCase],
    measure: Callable[[SparkSession, AnyCase, float], Outcome],
    scale: float,
    notes: Sequence[str],
) -> Result:
    """Run cases in one session and judge them.

    Args:
        name: Of the group, as on the command line.
        title: One line that says what is measured.
        cases: To run.
        measure: Runs one.
        scale: Of the data. Below 1 only agreement and operators are judged: ratios of small data say nothing.
        notes: For the page.

    Returns:
        All figures; not met if a bound is missed or engines disagree.
    """
    if scale == 1:
        import matplotlib  # noqa: F401  a missing library should be known before an hour of measuring, not after
    spark = session()
    try:
        outcomes = [measure(spark, case, scale) for case in cases]
    finally:
        spark.stop()
    return judge(name, title, outcomes, scale, notes)


def judge(name: str, title: str, outcomes: Sequence[Outcome], scale: float = 1, notes: Sequence[str] = NOTES) -> Result:
    """Hold outcomes against their bounds.

    Args:
        name: Of the group.
        title: Of its page.
        outcomes: What was measured.
        scale: Of the data.
        notes: For the page.

    Returns:
        As `run_cases`.
    """
    rows = [row for outcome in outcomes for row in _rows(outcome, judged=scale == 1)]
    problems = [m.problem for outcome in outcomes for m in outcome.engines.values() if m.problem]
    missed = [text for outcome in outcomes for text in _missed(outcome)]
    bounds = sum(len(o.case.bounds) + (o.case.idle_tail is not None) for o in outcomes)
    if scale < 1:
        verdict, failed = f"engines agree (at scale {scale:g} no time is judged)", problems
    else:
        verdict, failed = f"all {bounds} bounds kept, engines agree", problems + missed
    return Result(
        case=name,
        title=title,
        columns=COLUMNS,
        rows=rows,
        verdict="; ".join(failed) or verdict,
        met=not failed,
        notes=[*notes, *_where_required(outcomes), *_tails(outcomes)],
        plot=draw,
        data={o.case.name: {n: _figures(m) for n, m in o.engines.items()} for o in outcomes},
    )


def kept(outcome: Outcome, bound: Bound) -> bool:
    """Whether a bound is kept; a stopped peer counts with the time at which it was stopped."""
    return _held(outcome, bound) >= bound.at_least


def _held(outcome: Outcome, bound: Bound) -> float:
    """The ratio of the fastest peer of a bound."""
    return min(outcome.ratio(peer, bound.kind) for peer in bound.peers)


def _missed(outcome: Outcome) -> list[str]:
    case = outcome.case
    missed = []
    for bound in case.bounds:
        if outcome.has(bound.kind) and not kept(outcome, bound):
            ratio, kind = _held(outcome, bound), f" ({FIRST_RUN})" if bound.kind.startswith("first") else ""
            missed.append(f"{case.name}{kind}: {' / '.join(bound.peers)} {ratio:.2f}, at least {bound.at_least:.4g}")
    if case.idle_tail is not None and outcome.tail > case.idle_tail:
        missed.append(f"{case.name}: a core is idle for the last {outcome.tail:.0%}, at most {case.idle_tail:.0%}")
    return missed


def _rows(outcome: Outcome, judged: bool) -> list[list[str]]:
    warm: list[list[str]] = []
    for name, measured in outcome.engines.items():
        compared = "" if measured.checked or "floor" in name else "answer not compared"
        remark = ", ".join([*measured.operators, *filter(None, [measured.engine.remark, compared])])
        cells = [*times(outcome, name, "default"), *times(outcome, name, "tuned")]
        first_cell = "" if warm else outcome.case.name
        warm.append([first_cell, name, *cells, *requirements(outcome, name, ("default", "tuned"), judged), remark])
    first: list[list[str]] = []
    for name, measured in outcome.engines.items():
        if measured.of("first"):
            cells = [*times(outcome, name, "first"), *times(outcome, name, "first tuned")]
            required = requirements(outcome, name, ("first", "first tuned"), judged)
            first.append(["" if first else FIRST_RUN, name, *cells, *required, ", ".join(measured.operators)])
    return warm + first


def times(outcome: Outcome, name: str, kind: Kind) -> list[str]:
    """Seconds and ratio of a kind of runs; of an engine that has no settings only the ratio differs at `TUNED`.

    Args:
        outcome: Of a case.
        name: Of the engine.
        kind: Of its runs.

    Returns:
        Two cells, empty where there are no such runs.
    """
    measured = outcome.engines[name]
    if not (measured.of(kind) and outcome.has(kind)):
        return ["", ""]
    sign = "> " if measured.stopped(kind) else ""
    seconds = "" if kind == "tuned" and kind not in measured.others else f"{sign}{measured.seconds(kind):.2f}"
    return [seconds, f"{sign}{outcome.ratio(name, kind):.2f}"]


def requirements(outcome: Outcome, name: str, kinds: Sequence[Kind], judged: bool) -> list[str]:
    """What is required of an engine's runs of some kinds, and whether it is met.

    Args:
        outcome: Of a case.
        name: Of the engine.
        kinds: Of its runs.
        judged: Whether anything is required.

    Returns:
        Two cells, empty where nothing is.
    """
    # of several peers in one bound only the fastest is held against it
    bounds = [
        bound
        for bound in outcome.case.bounds
        if judged and bound.kind in kinds and outcome.has(bound.kind)
        and name == min(bound.peers, key=lambda peer, kind=bound.kind: outcome.ratio(peer, kind))  # type: ignore[misc]
    ]  # fmt: skip
    met = ", ".join("met" if kept(outcome, bound) else "**not met**" for bound in bounds)
    return [", ".join(f"{bound.at_least:.4g}" for bound in bounds), met]


def _where_required(outcomes: Sequence[Outcome]) -> list[str]:
    """At which settings warm runs are held against bounds: some groups at one, some at the other."""
    places: dict[Kind, str] = {"default": "at Spark's defaults", "tuned": f"at {AT_TUNED}"}
    kinds = {bound.kind for outcome in outcomes for bound in outcome.case.bounds}
    where = " and ".join(place for kind, place in places.items() if kind in kinds)
    return [f"What is required of warm runs is required {where}."] if where else []


def _tails(outcomes: Sequence[Outcome]) -> list[str]:
    return [
        f"{o.case.name}: a core is idle for the last {o.tail:.0%} of Joinery's run at {AT_TUNED}, "
        f"at most {o.case.idle_tail:.0%}."
        for o in outcomes
        if o.case.idle_tail is not None
    ]


def _figures(measured: Measured) -> dict[str, object]:
    return {
        "seconds": [round(run.seconds, 3) for run in measured.runs],
        **{kind: [round(run.seconds, 3) for run in runs] for kind, runs in measured.others.items() if runs},
        "stopped": measured.stopped(),
        "operators": measured.operators,
    }
