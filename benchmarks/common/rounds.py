"""Run a case: every engine checked, then timed in rounds in which each has its turn."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.common.cores import idle_tail, tasks
from benchmarks.common.engines import Digest, Engine, Run
from benchmarks.common.spark import Spark, operators

OURS = "joinery"
NO_CODEGEN = "joinery, whole-stage codegen off"
DUCKDB = "DuckDB"
POLARS = "Polars"
FLOOR = "floor: scan + shuffle + sort"
FLOOR_UNSORTED = "floor: scan + shuffle"

ROUNDS = 5
STOP_AT = 20  # times Joinery's median: there a slow peer is stopped, unless a bound needs it to run on
MARGIN = 1.25  # that median is not final while peers run
COLD = 1.5  # what a first run may take on top
SMALL_SCALE_LIMIT = 120.0  # seconds; at small scale overheads dominate and ratios say nothing


@dataclass(frozen=True)
class Bound:
    """What Joinery has to reach.

    Args:
        peers: The fastest of these counts.
        at_least: Its median divided by Joinery's.
    """

    peers: tuple[str, ...]
    at_least: float


@dataclass(frozen=True, kw_only=True)
class Case:
    """One line of the requirements: one data set, one question, which a subclass adds.

    Args:
        name: For the reader.
        bounds: To keep.
        idle_tail: The largest share of a run at whose end a core may be idle; not judged when None.
        rounds: How often each engine runs, however long that takes; when None up to five times, slow ones less.
    """

    name: str
    bounds: tuple[Bound, ...] = ()
    idle_tail: float | None = None
    rounds: int | None = None


@dataclass
class Measured:
    """What one engine did.

    Args:
        engine: It.
        runs: Timed ones.
        operators: Joinery's operators in the plan of the last of them.
        problem: Why the engine fails the case, whatever its times; empty if it does not.
    """

    engine: Engine
    runs: list[Run] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    problem: str = ""
    checked: bool = False

    @property
    def stopped(self) -> bool:
        """Whether it ended only because it was stopped; its median is then a lower bound."""
        return any(run.stopped for run in self.runs)

    @property
    def seconds(self) -> float:
        """Median."""
        return statistics.median(run.seconds for run in self.runs)


@dataclass
class Outcome:
    """A case and what its engines did, by name.

    Args:
        case: It.
        engines: Joinery first.
        tail: Idle tail of Joinery's runs, median, from 0 to 1.
    """

    case: Case
    engines: dict[str, Measured]
    tail: float

    @property
    def ours(self) -> float:
        """Joinery's median, in seconds."""
        return self.engines[OURS].seconds

    def ratio(self, name: str) -> float:
        """An engine's median divided by Joinery's."""
        return self.engines[name].seconds / self.ours


def compare(case: Case, engines: Mapping[str, Engine], digest: Digest, scale: float = 1) -> Outcome:
    """Check and time engines.

    Args:
        case: What is asked of them.
        engines: By name. Joinery's begin with `joinery`, what answers no question with `floor`.
        digest: Of answers.
        scale: Of the data. Below 1 nothing is stopped at a multiple of Joinery's time and one round must do.

    Returns:
        Times, operators and disagreements.
    """
    all_measured = {name: Measured(engine) for name, engine in engines.items()}
    ours = all_measured[OURS]
    truth = ours.engine.check().digest
    ours.checked = True
    for _ in range(3 if scale == 1 else 1):  # the first runs of a JVM are slow, and every limit hangs on these
        ours.runs.append(ours.engine.answer())
    estimate, ours.runs = ours.seconds, []

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
    for name, measured in all_measured.items():
        _check_plan(name, measured)
    return Outcome(case, all_measured, tail)


def _rounds(case: Case, engines: Mapping[str, Measured], limit: Callable[[str], float], scale: float) -> float:
    tails = []
    rounds = (case.rounds or ROUNDS) if scale == 1 else 1
    for round_ in range(rounds):
        turn = list(engines.items())
        for name, measured in turn if round_ % 2 == 0 else reversed(turn):  # who follows whom alternates
            enough = case.rounds or _enough(measured.runs, rounds)
            if measured.stopped or len(measured.runs) >= enough:
                continue
            measured.runs.append(measured.engine.answer(limit(name)))
            if name == OURS and isinstance(measured.engine, Spark):
                spans = [(task.launched, task.ended) for task in tasks(measured.engine.session, measured.engine.group)]
                tails.append(idle_tail(spans))
    return statistics.median(tails)


def _enough(runs: Sequence[Run], rounds: int) -> int:
    """A run of 5 s varies less than one of 0.5 s, and costs ten times as much. (One slow run says nothing.)"""
    fastest = min((run.seconds for run in runs), default=0.0)
    return min(rounds, 2 if fastest > 5 else 3 if fastest > 1.5 else rounds)


def _check_plan(name: str, measured: Measured) -> None:
    plan = measured.runs[-1].plan
    if not plan:  # not Spark, or stopped
        return
    measured.operators = operators(plan)
    ours = name.startswith(OURS)
    if ours and not measured.operators:
        measured.problem = f"{name} ran without an operator of Joinery's"
    if not ours and measured.operators:
        measured.problem = f"{name} ran with {', '.join(measured.operators)}"
