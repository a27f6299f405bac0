"""Run a group of cases: every engine checked, then timed in rounds in which each has its turn."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from benchmarks.last_join import queries as q
from benchmarks.last_join.cores import idle_tail, task_spans
from benchmarks.last_join.data import Shape, tables
from benchmarks.last_join.engines import DuckDB, Engine, Polars, Run
from benchmarks.last_join.spark import Spark, operators, register, stock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


@dataclass(frozen=True)
class Case:
    """One line of the requirements: one data set, one question.

    Args:
        name: For the reader.
        shape: Of the tables.
        question: What is asked.
        peers: Names of stock Spark's queries, DuckDB and Polars.
        bounds: To keep.
        hints: Forms to measure beside the automatic choice.
        idle_tail: The largest share of a run at whose end a core may be idle; not judged when None.
    """

    name: str
    shape: Shape
    question: q.Question
    peers: tuple[str, ...]
    bounds: tuple[Bound, ...]
    hints: tuple[str, ...] = ()
    idle_tail: float | None = None


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
        return self.engines[q.OURS].seconds

    def ratio(self, name: str) -> float:
        """An engine's median divided by Joinery's."""
        return self.engines[name].seconds / self.ours


def measure(spark: SparkSession, case: Case, scale: float = 1) -> Outcome:
    """Run a case.

    Args:
        spark: The session for Joinery and stock Spark.
        case: What to run.
        scale: Of the data. Below 1 nothing is stopped at a multiple of Joinery's time and one round must do.

    Returns:
        Times, operators and disagreements.
    """
    files = tables(case.shape.scaled(scale))
    register(spark, files)
    engines = {name: Measured(engine) for name, engine in _engines(spark, case, files).items()}
    ours = engines[q.OURS]
    truth = ours.engine.check().checksum
    ours.checked = True
    for _ in range(3 if scale == 1 else 1):  # the first runs of a JVM are slow, and every limit hangs on these
        ours.runs.append(ours.engine.answer())
    estimate, ours.runs = ours.seconds, []

    limit = None if scale < 1 else estimate * MARGIN * max([STOP_AT, *(bound.at_least for bound in case.bounds)])
    limit = limit or SMALL_SCALE_LIMIT
    for name, measured in engines.items():
        if measured is ours or name.startswith("floor"):
            continue
        check = measured.engine.check(limit * COLD)
        measured.checked = not check.stopped
        if check.stopped:  # it would be again
            measured.runs.append(replace(check, seconds=limit))
        if measured.checked and check.checksum != truth:
            measured.problem = f"{name} answers {check.checksum}, Joinery {truth}"
    tail = _rounds(spark, engines, limit, ROUNDS if scale == 1 else 1)
    for name, measured in engines.items():
        _check_plan(name, measured)
    return Outcome(case, engines, tail)


def _engines(spark: SparkSession, case: Case, files: dict) -> dict[str, Engine]:
    off = stock(spark)
    peers = q.spark_peers(case.question)
    engines: dict[str, Engine] = {
        q.OURS: Spark(spark, q.last_join(case.question)),
        q.NO_CODEGEN: Spark(spark, q.last_join(case.question), {"spark.sql.codegen.wholeStage": "false"}),
    }
    if case.idle_tail is not None:
        whole = {"spark.joinery.lastJoin.skewSplit.enabled": "false"}
        engines[q.NO_SPLIT] = Spark(spark, q.last_join(case.question), whole)
    for hint in case.hints:
        engines[f"{q.OURS}, {hint} hint"] = Spark(spark, q.last_join(case.question, hint))
    for name in case.peers:
        if name == q.DUCKDB:
            engines[name] = DuckDB(case.question, files)
        elif name == q.POLARS:
            engines[name] = Polars(case.question, files)
        else:
            engines[name] = Spark(spark, peers[name], off)
    return engines | {name: Spark(spark, sql, off) for name, sql in q.floors(case.question).items()}


def _rounds(spark: SparkSession, engines: dict[str, Measured], limit: float, rounds: int) -> float:
    tails = []
    for _ in range(rounds):
        for name, measured in engines.items():
            if measured.stopped or len(measured.runs) >= _enough(measured.runs, rounds):
                continue
            measured.runs.append(measured.engine.answer(limit))
            if name == q.OURS and isinstance(measured.engine, Spark):
                tails.append(idle_tail(task_spans(spark, measured.engine.group)))
    return statistics.median(tails)


def _enough(runs: Sequence[Run], rounds: int) -> int:
    """A run of 5 s varies less than one of 0.5 s, and costs ten times as much. (One slow run says nothing.)"""
    fastest = min((run.seconds for run in runs), default=0.0)
    return min(rounds, 2 if fastest > 5 else 3 if fastest > 1.5 else rounds)


def _check_plan(name: str, measured: Measured) -> None:
    plan = measured.runs[-1].plan
    measured.operators = operators(plan)
    finished = isinstance(measured.engine, Spark) and not measured.stopped
    if finished and name.startswith(q.OURS) and not measured.operators:
        measured.problem = f"{name} ran without an operator of Joinery's"
    if finished and not name.startswith(q.OURS) and measured.operators:
        measured.problem = f"{name} ran with {', '.join(measured.operators)}"
    if finished and name == q.ASOF and "SortMergeAsOfJoin" not in plan:
        measured.problem = f"{name} ran without SortMergeAsOfJoin"
