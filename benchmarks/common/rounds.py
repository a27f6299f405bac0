"""Run a case: every engine checked, then timed in rounds in which each has its turn."""

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
FIRST_ROUNDS = 3  # fresh JVMs for an engine whose figure is judged
SLOW_FIRST_RUN = 20.0  # seconds, most of which are no start: one such run is enough
STOP_AT = 20  # times Joinery's median: there a slow peer is stopped, unless a bound needs it to run on
APART = 1.05  # times; few rounds of one and the same plan lie that far apart
MARGIN = 1.25  # that median is not final while peers run
COLD = 1.5  # what a first run may take on top
SMALL_SCALE_LIMIT = 120.0  # seconds; at small scale overheads dominate and ratios say nothing


@dataclass(frozen=True)
class Bound:
    """What Joinery has to reach.

    Args:
        peers: The fastest of these counts.
        at_least: Its median divided by Joinery's.
        kind: The kind of runs that are held against it.
    """

    peers: tuple[str, ...]
    at_least: float
    kind: Kind = "warm"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One line of the requirements: one data set, one question, which a subclass adds.

    Args:
        name: For the reader.
        bounds: To keep.
        idle_tail: The largest share of a run at whose end a core may be idle; not judged when None.
        rounds: How often each engine runs, however long that takes; when None up to five times, slow ones less.
        closer: How often each engine runs where after `rounds` a judged peer is more than `APART` times as fast, or as
            slow, as Joinery.
        fires: Whether an operator of Joinery's has to stand in the plan of its query, as it has where it is measured.
    """

    name: str
    bounds: tuple[Bound, ...] = ()
    idle_tail: float | None = None
    rounds: int | None = None
    closer: int | None = None
    fires: bool = True


@dataclass
class Measured:
    """What one engine did.

    Args:
        engine: It.
        runs: Timed ones in a warm JVM.
        operators: Joinery's operators in the plan of the last of them.
        problem: Why the engine fails the case, even if its times do not; empty if it passes.
        checked: Whether its answer was compared.
        first: Timed first runs in fresh JVMs; none where the engine has no JVM.
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
        """Whether it ended only because it was stopped; its median is then a lower bound."""
        return any(run.stopped for run in self.of(kind))

    def seconds(self, kind: Kind = "warm") -> float:
        """Median."""
        return statistics.median(run.seconds for run in self.of(kind))


@dataclass
class Outcome:
    """A case and what its engines did, by name.

    Args:
        case: It.
        engines: Joinery first.
        tail: Idle tail of Joinery's runs, median, from 0 to 1; 0 where the case does not judge it.
    """

    case: Case
    engines: dict[str, Measured]
    tail: float

    def ratio(self, name: str, kind: Kind = "warm") -> float:
        """An engine's median divided by Joinery's, both of the same kind of runs."""
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
        case: What is asked of them.
        engines: By name. Joinery's begin with `joinery`, what answers no question with `floor`.
        digest: Of answers.
        scale: Of the data. Below 1 nothing is stopped at a multiple of Joinery's time and one round must do.
        tables: Folders of the tables, to run the queries in fresh JVMs as well; None leaves those runs out.

    Returns:
        Times, operators and disagreements.
    """
    all_measured = {name: Measured(engine) for name, engine in engines.items()}
    ours = all_measured[OURS]
    truth = ours.engine.check().digest
    ours.checked = True
    for _ in range(3 if scale == 1 else 1):  # the first runs of a JVM are slow, and every limit hangs on these
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
        if check.stopped:  # it would be again
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

    Only a case that judges the tail asks for the tasks: each of them costs several calls into the JVM.
    """
    tails = []
    rounds = (case.rounds or ROUNDS) if scale == 1 else 1
    turn = list(engines.items())
    round_ = 0
    while round_ < rounds:
        for name, measured in turn if round_ % 2 == 0 else reversed(turn):  # who follows whom alternates
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
    """Run Joinery, the floors and each Spark peer in fresh JVMs: several times what is judged and is not slow."""
    ours = engines[OURS]
    # at a small scale, where only agreement is judged, floors would only take time
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
    """Joinery and, of each bound, the peer that is the fastest in a warm JVM: first runs take most of a case's time."""
    return {OURS, *(min(bound.peers, key=lambda peer: engines[peer].seconds()) for bound in case.bounds)}


def _enough(runs: Sequence[Run], rounds: int) -> int:
    """A run of 5 s varies less than one of 0.5 s, and costs ten times as much. (One slow run says nothing.)"""
    fastest = min((run.seconds for run in runs), default=0.0)
    return min(rounds, 2 if fastest > 5 else 3 if fastest > 1.5 else rounds)


def _check_plans(name: str, measured: Measured, fires: bool) -> None:
    """Note Joinery's operators, and a problem where a kind of runs had some that it should not, or none."""
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
