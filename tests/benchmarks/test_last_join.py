"""The LAST JOIN benchmark, tested on tiny data, without judging times."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from benchmarks.common import rounds
from benchmarks.common.cores import idle_tail
from benchmarks.common.engines import Engine, Run
from benchmarks.common.rounds import DUCKDB, FLOOR, NO_CODEGEN, OURS, Bound, Measured, Outcome
from benchmarks.common.spark import SETTINGS, Spark, operators
from benchmarks.common.verdict import FIRST_RUN, judge
from benchmarks.last_join import keyless, multi, point_in_time
from benchmarks.last_join import queries as q
from benchmarks.last_join.data import Shape, tables
from benchmarks.last_join.run import Case, measure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
SCALE = 0.0005
ASOF_SETTINGS = ("spark.sql.join.asofJoin.enabled", "spark.sql.join.sortMergeAsOfJoin.enabled")


@pytest.fixture(scope="module")
def bench(spark: SparkSession) -> Iterator[SparkSession]:
    for name in ASOF_SETTINGS:
        spark.conf.set(name, "true")
    yield spark
    for name in ASOF_SETTINGS:
        spark.conf.unset(name)
    for view in ("l", "r"):
        spark.catalog.dropTempView(view)


CASES = [multi.CASES[2], point_in_time.CASES[0], pytest.param(keyless.CASES[0], marks=pytest.mark.soak)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_engine_gives_the_same_answer(bench: SparkSession, case: Case) -> None:
    outcome = measure(bench, replace(case, hints=()), SCALE, first_runs=False)
    assert judge("test", "test", [outcome], SCALE).met, [m.problem for m in outcome.engines.values()]
    assert {OURS, NO_CODEGEN, FLOOR, *case.peers} <= set(outcome.engines)
    assert all(m.checked for name, m in outcome.engines.items() if not name.startswith("floor"))
    assert outcome.engines[OURS].operators
    assert not outcome.engines[FLOOR].operators


def test_a_wrong_answer_fails_the_case(bench: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    first = q.duckdb(multi.CASES[2].question).replace("arg_max", "arg_min")
    monkeypatch.setattr("benchmarks.last_join.queries.duckdb", lambda question: first)
    case = replace(multi.CASES[2], hints=(), peers=(DUCKDB,), bounds=())
    result = judge("test", "test", [measure(bench, case, SCALE, first_runs=False)], SCALE)
    assert not result.met
    assert result.verdict.startswith("DuckDB answers (")


@pytest.mark.soak
def test_first_runs_are_those_of_fresh_jvms(bench: SparkSession) -> None:
    case = replace(point_in_time.CASES[0], hints=(), peers=(q.ASOF, DUCKDB), bounds=())
    outcome = measure(bench, case, SCALE)
    counts = {name: len(measured.first) for name, measured in outcome.engines.items()}
    assert (counts[OURS], counts[q.ASOF], counts[DUCKDB]) == (1, 1, 0)
    ours, asof = (outcome.engines[name].of("first")[0].plan for name in (OURS, q.ASOF))
    assert operators(ours)
    assert "SortMergeAsOfJoin" in asof
    rows = judge("test", "test", [outcome], SCALE).rows
    start = next(i for i, row in enumerate(rows) if row[0] == FIRST_RUN)
    assert [row[1] for row in rows[start:]] == [OURS, q.ASOF]
    assert all(float(cell) > 0 for row in rows[start:] for cell in row[2:4])


def test_spark_runs_with_its_own_number_of_partitions() -> None:
    assert "spark.sql.shuffle.partitions" not in SETTINGS


def test_a_query_is_stopped_and_the_next_one_has_all_cores(bench: SparkSession) -> None:
    endless = Spark(bench, "SELECT count(*) FROM range(0, 4000000, 1, 2) a JOIN range(4000000) b ON a.id + b.id < 0")
    run = endless.answer(limit=1)
    assert run.stopped
    assert not any(executor.numRunningTasks() for executor in bench._jsc.sc().statusTracker().getExecutorInfos())
    assert not Spark(bench, "SELECT * FROM range(10)").answer(limit=60).stopped


def test_an_error_of_a_query_is_not_taken_for_a_stop(bench: SparkSession) -> None:
    with pytest.raises(Exception, match="of its own"):
        Spark(bench, "SELECT raise_error('an error of its own') FROM range(3)").answer(limit=600)


class Idle(Engine):
    """An engine that is never run, for tests that look at figures only."""

    def answer(self, limit: float | None = None) -> Run:
        raise NotImplementedError

    def check(self, limit: float | None = None) -> Run:
        raise NotImplementedError


def outcome(ours: float, asof: Run, at_least: float, tail: float = 0.0) -> Outcome:
    """An outcome with given figures of warm runs. The peer takes twice as long in first runs, which are not judged."""
    case = rounds.Case(name="c", bounds=(Bound((q.ASOF,), at_least),), idle_tail=0.1)
    measured = {
        OURS: Measured(Idle(), [Run(ours)], first=[Run(1.0)]),
        q.ASOF: Measured(Idle(), [asof], first=[Run(2.0)]),
    }
    return Outcome(case, measured, tail)


@pytest.mark.parametrize(
    ("given", "met", "cells"),
    [
        (outcome(1, Run(4.1), 4), True, ["4.10", "4.10", "4", "met"]),
        (outcome(1, Run(3.9), 4), False, ["3.90", "3.90", "4", "**not met**"]),
        (outcome(1, Run(22, stopped=True), 20), True, ["> 22.00", "> 22.00", "20", "met"]),
        (outcome(1.2, Run(22, stopped=True), 20), False, ["> 22.00", "> 18.33", "20", "**not met**"]),
        (outcome(1, Run(5), 4, tail=0.2), False, ["5.00", "5.00", "4", "met"]),
    ],
)
def test_bounds(given: Outcome, met: bool, cells: list[str]) -> None:
    result = judge("test", "test", [given])
    assert result.met is met
    assert [row[2:6] for row in result.rows if row[1] == q.ASOF] == [cells, ["2.00", "2.00", "", ""]]


@pytest.mark.parametrize(("asof", "met"), [(Run(4.0), True), (Run(3.9), False), (Run(9, stopped=True), True)])
def test_bounds_of_first_runs(asof: Run, met: bool) -> None:
    case = rounds.Case(name="c", bounds=(Bound((q.ASOF,), 2, kind="first"),))
    measured = {
        OURS: Measured(Idle(), [Run(1.0)], first=[Run(2.0)]),
        q.ASOF: Measured(Idle(), [Run(1.0)], first=[asof]),
    }
    result = judge("test", "test", [Outcome(case, measured, 0.0)])
    assert result.met is met
    assert [row[:2] for row in result.rows[2:]] == [[FIRST_RUN, OURS], ["", q.ASOF]]
    assert result.rows[3][4:6] == ["2", "met" if met else "**not met**"]


def test_idle_tail() -> None:
    assert idle_tail([(0, 4), (0, 10), (4, 7)]) == pytest.approx(0.3)
    assert idle_tail([(0, 10), (0, 10)]) == 0
    assert idle_tail([(5, 10)]) == 1


def test_data() -> None:
    folders = tables(Shape("test", 800, 9, hot=True))
    left, right = (duckdb.sql(f"FROM '{folders[name]}/*.parquet'") for name in ("l", "r"))
    for table in (left, right):
        assert table.aggregate("count(*), count(DISTINCT ts)").fetchall() == [(800, 800)]
    assert right.aggregate("count(DISTINCT k), count(*) FILTER (k = 0)").fetchall() == [(9, 400)]
    unmatched = duckdb.sql('SELECT count(*) FROM "left" ANTI JOIN "right" USING (k)').fetchall()
    assert unmatched == [(800 // 64,)]


def test_command() -> None:
    command = [sys.executable, "-m", "benchmarks", "no_such_case"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert "last_join_memory" in process.stderr
