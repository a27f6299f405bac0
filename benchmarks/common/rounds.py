"""Run a case: check every engine, then time all engines in turn, in rounds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from benchmarks.common.cores import idle_tail, tasks
from benchmarks.common.engines import Engine, Run, SparkDigest
from benchmarks.common.spark import Spark, operators

# Runs in a warm JVM, and first runs in fresh JVMs.
Kind = Literal["warm", "first"]

OURS = "joinery"
NO_CODEGEN = "joinery, whole-stage codegen off"
DUCKDB = "DuckDB"
POLARS = "Polars"
FLOOR = "floor: scan + shuffle + sort"
FLOOR_UNSORTED = "floor: scan + shuffle"

ROUNDS = 5
FIRST_ROUNDS = 3  # fresh JVMs for an engine whose time is judged
SLOW_FIRST_RUN = 20.0  # seconds: the start is a small part of them, so one such run is enough
STOP_AT = 20  # times Joinery's median: a slow peer is stopped then, unless a bound needs it to run on
APART = 1.05  # times: the medians of few rounds of the same plan may differ by this factor
MARGIN = 1.25  # times: Joinery's median is not final while peers run
COLD = 1.5  # times: a first run may take this much longer
SMALL_SCALE_LIMIT = 120.0  # seconds; at small scale overheads dominate and ratios say nothing


@dataclass(frozen=True)
class Bound:
    """A ratio that Joinery has to reach.

    Args:
        peers: The fastest of these peers counts.
        at_least: Its median divided by Joinery's.
        kind: The kind of runs that are compared with it.
    """

    peers: tuple[str, ...]
    at_least: float
    kind: Kind = "warm"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One line of the requirements: one data set and one question, which a subclass adds.

    Args:
        name: The name on the page.
        bounds: The bounds to keep.
        idle_tail: The largest share of a run, at its end, in which a core may be idle; not judged when None.
        rounds: Runs of each engine, even if it is slow. When None an engine runs up to five times, a slow one less
            often.
        closer: Runs of each engine if a judged peer is more than `APART` times as fast or as slow as Joinery after
            `rounds`.
        fires: Whether the plan of Joinery's query must have one of Joinery's operators.
    """

    name: str
    bounds: tuple[Bound, ...] = ()
    idle_tail: float | None = None
    rounds: int | None = None
    closer: int | None = None
    fires: bool = True


@dataclass
class Measured:
    """The runs of one engine.

    Args:
        engine: The engine.
        runs: Timed runs in a warm JVM.
        operators: Joinery's operators in the plan of the last run.
        problem: Why the engine fails the case, even if its times do not; empty if it passes.
        checked: Whether its answer was compared.
        first: Timed first runs in fresh JVMs; none if the engine has no JVM.
    """

    engine: Engine
    runs: list[Run] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    problem: str = ""
    checked: bool = False
    first: list[Run] = field(default_factory=list)

    def of(self, kind: Kind) -> list[Run]:
        """The runs of a kind."""
        return self.runs if kind == "warm" else self.first

    def stopped(self, kind: Kind = "warm") -> bool:
        """Whether a run was stopped. The median is then a lower bound."""
        return any(run.stopped for run in self.of(kind))

    def seconds(self, kind: Kind = "warm") -> float:
        """Median seconds of the runs."""
        return statistics.median(run.seconds for run in self.of(kind))


@dataclass
class Outcome:
    """A case, and the runs of its engines by name.

    Args:
        case: The case.
        engines: The engines, Joinery first.
        tail: Median idle tail of Joinery's runs, from 0 to 1; 0 if the case does not judge it.
    """

    case: Case
    engines: dict[str, Measured]
    tail: float

    def ratio(self, name: str, kind: Kind = "warm") -> float:
        """An engine's median divided by Joinery's, for one kind of runs."""
        return self.engines[name].seconds(kind) / self.engines[OURS].seconds(kind)

    def has(self, kind: Kind) -> bool:
        """Whether Joinery has runs of a kind."""
        return bool(self.engines[OURS].of(kind))


def compare(
    case: Case,
    engines: Mapping[str, Engine],
    digest: SparkDigest,
    scale: float = 1,
    tables: Mapping[str, Path] | None = None,
) -> Outcome:
    """Check and time engines.

    Args:
        case: The case that they run.
        engines: Engines by name. Joinery's names begin with `joinery`; names of engines that do not answer the question
            begin with `floor`.
        digest: The digest of answers.
        scale: Scale of the data. Below 1 there is one round, and nothing is stopped at a multiple of Joinery's time.
        tables: Folders of the tables, to run the queries in fresh JVMs, too. None leaves out these runs.

    Returns:
        Times, operators and disagreements.
    """
    all_measured = {name: Measured(engine) for name, engine in engines.items()}
    ours = all_measured[OURS]
    truth = ours.engine.check().digest
    ours.checked = True
    for _ in range(3 if scale == 1 else 1):  # the first runs of a JVM are slow, and every limit depends on these
        ours.runs.append(ours.engine.answer())
    estimate, ours.runs = ours.seconds(), []

    def limit(name: str) -> float:
        bounds = (bound.at_least for bound in case.bounds if name in bound.peers)
        return SMALL_SCALE_LIMIT if scale < 1 else estimate * MARGIN * max(STOP_AT, *bounds, 0)

    for name, measured in all_measured.items():
        if measured is ours or name.startswith("floor"):
            continue
        check = measured.engine.check(limit(name) * COLD)
        measured.checked = not check.stopped
        if check.stopped:  # it would be stopped again
            measured.runs.append(replace(check, seconds=limit(name)))
        difference = digest.differ(check.digest, truth) if measured.checked else ""
        if difference:
            measured.problem = f"{name} {difference}"
    tail = _rounds(case, all_measured, limit, scale)
    if tables is not None:
        _first_runs(case, all_measured, tables, scale)
    for name, measured in all_measured.items():
        _check_plans(name, measured, case.fires)
    return Outcome(case, all_measured, tail)


def _rounds(case: Case, engines: Mapping[str, Measured], limit: Callable[[str], float], scale: float) -> float:
    """Time every engine, each in turn, and return the idle tail of Joinery's runs.

    Tasks are read only if the case judges the tail, because each of them takes several calls into the JVM.
    """
    tails = []
    rounds = (case.rounds or ROUNDS) if scale == 1 else 1
    turn = list(engines.items())
    round_ = 0
    while round_ < rounds:
        for name, measured in turn if round_ % 2 == 0 else reversed(turn):  # the order of engines alternates
            engine, runs = measured.engine, measured.runs
            enough = rounds if case.rounds else _enough(runs, rounds)
            if measured.stopped() or len(runs) >= enough:
                continue
            runs.append(engine.answer(limit(name)))
            if case.idle_tail is not None and name == OURS and isinstance(engine, Spark):
                spans = [(task.launched, task.ended) for task in tasks(engine.session, engine.group)]
                tails.append(idle_tail(spans))
        round_ += 1
        if round_ == rounds and case.closer and scale == 1 and _are_apart(case, engines):
            rounds = max(rounds, case.closer)
    return statistics.median(tails) if tails else 0.0


def _are_apart(case: Case, engines: Mapping[str, Measured]) -> bool:
    judged = {peer for bound in case.bounds for peer in bound.peers}
    ratios = [engines[peer].seconds() / engines[OURS].seconds() for peer in judged]
    return any(not 1 / APART <= ratio <= APART for ratio in ratios)


def _first_runs(case: Case, engines: Mapping[str, Measured], tables: Mapping[str, Path], scale: float) -> None:
    """Run Joinery, the floors and each Spark peer in fresh JVMs. Judged engines that are not slow run several times."""
    ours = engines[OURS]
    # floors would only take time at a small scale, which judges nothing but agreement
    left_out = (OURS,) if scale == 1 else (OURS, "floor")
    peers = [name for name in engines if not name.startswith(left_out)]
    repeated = _repeated(case, engines)
    for round_ in range(FIRST_ROUNDS if scale == 1 else 1):
        for name in [OURS, *peers] if round_ % 2 == 0 else [OURS, *reversed(peers)]:
            measured = engines[name]
            runs = measured.first
            if measured.stopped("first"):
                continue
            if runs and (name not in repeated or min(run.seconds for run in runs) > SLOW_FIRST_RUN):
                continue
            limit = STOP_AT * MARGIN * ours.seconds("first") if ours.first else None
            run = measured.engine.in_fresh_jvm(tables, name == OURS, limit if scale == 1 else SMALL_SCALE_LIMIT)
            runs.extend([run] if run else [])


def _repeated(case: Case, engines: Mapping[str, Measured]) -> set[str]:
    """Joinery and the fastest warm peer of each bound. Others run once, as first runs take most of a case's time."""
    return {OURS, *(min(bound.peers, key=lambda peer: engines[peer].seconds()) for bound in case.bounds)}


def _enough(runs: Sequence[Run], rounds: int) -> int:
    """The number of runs that are enough, by the fastest run: one of 5 s varies less than one of 0.5 s."""
    fastest = min((run.seconds for run in runs), default=0.0)
    return min(rounds, 2 if fastest > 5 else 3 if fastest > 1.5 else rounds)


def _check_plans(name: str, measured: Measured, fires: bool) -> None:
    """Note Joinery's operators, and a problem if a kind of runs lacks them or has them by mistake."""
    kinds: tuple[Kind, ...] = ("first", "warm")
    for kind in kinds:
        plan = next((run.plan for run in reversed(measured.of(kind))), "")
        if not plan:  # not Spark, or stopped
            continue
        measured.operators = operators(plan)
        ours = name.startswith(OURS)
        if ours and fires and not measured.operators:
            measured.problem = f"{name} ran without an operator of Joinery's"
        if not ours and measured.operators:
            measured.problem = f"{name} ran with {', '.join(measured.operators)}"
