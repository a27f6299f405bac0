"""Compare figures with their bounds, as a table that is committed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from benchmarks.common.plot import draw
from benchmarks.common.rounds import FIRST_ROUNDS, SLOW_FIRST_RUN, Bound, Case, Kind, Outcome
from benchmarks.common.spark import session
from benchmarks.report import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AnyCase = TypeVar("AnyCase", bound=Case)

COLUMNS = ["case", "engine", "median, s", "times Joinery's", "required", "", "operator or remark"]
FIRST_RUN = "first run in a fresh JVM"
NOTES = [
    "Every engine reads the same Parquet files on two cores and computes every row and column: Spark into "
    "its noop sink, DuckDB into a temporary table, Polars into a DataFrame. Joinery and stock Spark share a JVM, 8 GB.",
    "Medians of up to five rounds (three above 1.5 s, two above 5 s), each engine in turn, after a warm-up.",
    "Spark runs at its defaults, with 200 shuffle partitions, and 8 GB of memory.",
    "First run: a new process starts a session, which knows the tables, and times its first query; the files are in "
    f"the system's cache. Stock Spark runs without the jar. {FIRST_ROUNDS} times for Joinery and, of each bound, the "
    f"peer that is the fastest in a warm JVM, once where that takes more than {SLOW_FIRST_RUN:g} s. Once for others.",
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
        name: The group's name on the command line.
        title: One line that names the measurement.
        cases: The cases to run.
        measure: Runs one case.
        scale: Scale of the data. Below 1 only agreement and operators are judged, because ratios of small data say
            nothing.
        notes: Notes on the page.

    Returns:
        All figures. They are not met if a bound is missed or engines disagree.
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
    """Compare outcomes with their bounds.

    Args:
        name: The name of the group.
        title: The title of its page.
        outcomes: The measured outcomes.
        scale: Scale of the data.
        notes: Notes on the page.

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
        notes=[*notes, *_tails(outcomes)],
        plot=draw,
        data={o.case.name: {n: _figures(o, n) for n in o.engines} for o in outcomes},
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
        first_cell = "" if warm else outcome.case.name
        warm.append([first_cell, name, *_cells(outcome, name, "warm", judged), remark])
    first: list[list[str]] = []
    for name, measured in outcome.engines.items():
        if measured.first:
            cells = _cells(outcome, name, "first", judged)
            first.append(["" if first else FIRST_RUN, name, *cells, ", ".join(measured.operators)])
    return warm + first


def _cells(outcome: Outcome, name: str, kind: Kind, judged: bool) -> list[str]:
    return [*times(outcome, name, kind), *requirements(outcome, name, kind, judged)]


def times(outcome: Outcome, name: str, kind: Kind) -> list[str]:
    """Seconds and ratio of a kind of runs.

    Args:
        outcome: The outcome of a case.
        name: The name of the engine.
        kind: The kind of its runs.

    Returns:
        Two cells, empty without such runs.
    """
    measured = outcome.engines[name]
    if not (measured.of(kind) and outcome.has(kind)):
        return ["", ""]
    sign = "> " if measured.stopped(kind) else ""
    return [f"{sign}{measured.seconds(kind):.2f}", f"{sign}{outcome.ratio(name, kind):.2f}"]


def requirements(outcome: Outcome, name: str, kind: Kind, judged: bool) -> list[str]:
    """The required ratios of an engine's runs of a kind, and whether they are met.

    Args:
        outcome: The outcome of a case.
        name: The name of the engine.
        kind: The kind of its runs.
        judged: Whether anything is required.

    Returns:
        Two cells, empty if nothing is required.
    """
    bounds = _bounds_on(outcome, name, kind) if judged else []
    met = ", ".join("met" if kept(outcome, bound) else "**not met**" for bound in bounds)
    return [", ".join(f"{bound.at_least:.4g}" for bound in bounds), met]


def _bounds_on(outcome: Outcome, name: str, kind: Kind) -> list[Bound]:
    """The bounds that an engine decides. Only the fastest peer of a bound decides it."""
    bounds = [bound for bound in outcome.case.bounds if bound.kind == kind and outcome.has(kind)]
    return [bound for bound in bounds if name == min(bound.peers, key=lambda peer: outcome.ratio(peer, kind))]


def _tails(outcomes: Sequence[Outcome]) -> list[str]:
    return [
        f"{o.case.name}: a core is idle for the last {o.tail:.0%} of Joinery's run, at most {o.case.idle_tail:.0%}."
        for o in outcomes
        if o.case.idle_tail is not None
    ]


def _figures(outcome: Outcome, name: str) -> dict[str, object]:
    """An engine's seconds by kind, and the bounds that it decides."""
    measured = outcome.engines[name]
    kinds: dict[str, Kind] = {"seconds": "warm", "first": "first"}
    seconds = {key: [round(run.seconds, 3) for run in measured.of(kind)] for key, kind in kinds.items()}
    bounds = {key: [bound.at_least for bound in _bounds_on(outcome, name, kind)] for key, kind in kinds.items()}
    return {
        **{key: found for key, found in seconds.items() if found},
        "stopped": measured.stopped(),
        "first_stopped": bool(measured.first) and measured.stopped("first"),
        "extrapolated": "extrapolated" in measured.engine.remark,
        "operators": measured.operators,
        "required": {key: found for key, found in bounds.items() if found},
    }
