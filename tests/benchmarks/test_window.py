"""The window benchmark, tested on tiny data, without judging times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pytest

from benchmarks.common.cores import Task
from benchmarks.common.engines import Engine, Fraction, Run
from benchmarks.common.rounds import FLOOR, OURS
from benchmarks.common.spark import register
from benchmarks.common.verdict import judge
from benchmarks.report import Result
from benchmarks.window import article, parts, skew, small
from benchmarks.window import queries as q
from benchmarks.window import range as range_case
from benchmarks.window.answers import RowByRow, Rows
from benchmarks.window.data import SKEWED, TRIPS, tables
from benchmarks.window.run import Case, measure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCALE = 0.0005


@pytest.fixture(scope="module")
def bench(spark: SparkSession) -> Iterator[SparkSession]:
    yield spark
    for view in ("t", "t_first"):
        spark.catalog.dropTempView(view)


OTHERS = [article.CASES[0], range_case.CASES[0]]
CASES = [skew.CASE, small.CASES[0], *(pytest.param(case, marks=pytest.mark.soak) for case in OTHERS)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_engine_gives_the_same_answer(bench: SparkSession, case: Case) -> None:
    outcome = measure(bench, case, SCALE, first_runs=False)
    assert judge("test", "test", [outcome], SCALE).met, [m.problem for m in outcome.engines.values()]
    hinted = [f"{OURS}, {case.hint}"] if case.hint else []
    assert {OURS, *hinted, *case.peers} <= set(outcome.engines)
    assert all(m.checked for name, m in outcome.engines.items() if not name.startswith("floor"))
    assert outcome.engines[OURS].operators == ["SlidingWindow"]
    assert (FLOOR in outcome.engines) == case.floor


def test_a_wrong_answer_fails_the_case(bench: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    narrower = replace(article.CASES[0].question.scaled(SCALE), rows=4)
    polars = q.polars_query
    monkeypatch.setattr("benchmarks.window.queries.polars_query", lambda question, folder: polars(narrower, folder))
    case = replace(article.CASES[0], peers=("Polars",), bounds=(), interpreted=False, floor=False)
    result = judge("test", "test", [measure(bench, case, SCALE, first_runs=False)], SCALE)
    assert not result.met
    assert result.verdict.startswith("Polars answers ")


def test_parts(bench: SparkSession) -> None:
    register(bench, tables(SKEWED.scaled(SCALE)))
    runs = parts.measure(bench, skew.CASE.question.scaled(SCALE), rounds=1)
    assert [run.parts for run in runs] == list(parts.PARTS)
    assert all(0 < run.longest_s <= run.window_s and run.cpu_s > 0 for run in runs)
    assert [bool(run.metrics) for run in runs] == [False, True, True, True]
    two, _, eight = (int(run.metrics["number of copied rows"].replace(",", "")) for run in runs[1:])
    assert two < eight
    result = skew.with_parts(Result("test", "test", [], [], "", True), runs, judged=False)
    counts = [len(section.rows) for section in result.sections]
    assert counts == [len(parts.PARTS), len(parts.PREDICTED_PARTS)]


def split(count: int, longest_s: float, wall_s: float = 10, cpu_s: float = 10) -> parts.Split:
    return parts.Split(
        count,
        wall_s,
        longest_s,
        count * longest_s + 2,
        4.0,
        cpu_s,
        {"number of copied rows": "10"} if count > 1 else {},
    )


@pytest.mark.parametrize(
    ("four", "met"),
    [
        (split(4, 2.8), True),
        (split(4, 2.9), False),
        (split(4, 2.8, wall_s=10.1), False),
        (split(4, 2.8, cpu_s=11.6), False),
        (replace(split(4, 2.8), metrics={}), False),
    ],
)
def test_bounds_of_parts(four: parts.Split, met: bool) -> None:
    result = skew.with_parts(Result("test", "test", [], [], "", True), [split(1, 8), four])
    assert result.met is met
    assert ("**" in result.verdict) is not met


def test_the_model_finds_what_runs_were_made_of() -> None:
    made_of = parts.Model(driver_s=1, before_s=4, sample_s=0.5, repeated_s=0.3, divisible_s=8, window_s=9, each_s=0.4)
    runs = [
        parts.Split(
            parts=count,
            wall_s=made_of.wall_s(count, 2),
            longest_s=made_of.longest_s(count),
            window_s=9 + 0.4 * count,
            before_s=4 if count == 1 else 4.5,
            cpu_s=1,
            metrics={},
        )
        for count in parts.PARTS
    ]
    model = parts.Model.fit(runs)
    assert model.error(runs) < 1e-9
    assert model.wall_s(64, 64) == pytest.approx(made_of.wall_s(64, 64))


def test_a_run_is_made_of_its_tasks() -> None:
    tasks = [Task(3, 0, 1000, 0.5, 0), Task(7, 1000, 4000, 2.5, 0), Task(7, 1000, 2000, 1, 0)]
    run = parts.Split.of(2, 4.2, tasks, {})
    assert (run.longest_s, run.window_s, run.before_s, run.cpu_s) == (3, 4, 1, 4)


class Once(Engine):
    """An engine that reports one second for an answer, and two for a check."""

    def answer(self, limit: float | None = None) -> Run:
        return Run(1.0)

    def check(self, limit: float | None = None) -> Run:
        return Run(2.0)


def test_a_fraction_is_scaled_up() -> None:
    engine = Fraction(Once(), 0.05)
    assert engine.answer().seconds == pytest.approx(20)
    assert engine.check(limit=1).seconds == pytest.approx(40)
    assert engine.remark == "extrapolated from 5.00% of the rows"


SUM = q.Question("k", "ts", (("sum", "value"),), rows=9)
OURS_ROWS = Rows(np.array([1, 2, 4]), [np.array([1.0, 2.0, 3.0])])
ROUNDED = np.array([1.0, 2.0 + 2**-51, 3.0])


@pytest.mark.parametrize(
    ("theirs", "difference"),
    [
        (Rows(np.array([1, 2, 4]), [ROUNDED]), ""),
        (Rows(np.array([1, 2, 4]), [ROUNDED + 1e-12]), "answers "),
        (Rows(np.array([1, 2, 4]), [np.array([1.0, np.nan, 3.0])]), "answers nan for sum(value) of id 2, Joinery 2.0"),
        (Rows(np.array([2]), [np.array([2.0])]), "has 1 rows, Joinery 3"),
        (Rows(np.array([2]), [np.array([2.0])], whole=False), ""),
        (Rows(np.array([1, 2, 5]), [np.array([1.0, 2.0, 3.0])]), "has rows that Joinery has not"),
    ],
)
def test_answers_differ_by_no_more_than_rounding(theirs: Rows, difference: str) -> None:
    found = RowByRow(SUM).differ(theirs, OURS_ROWS)
    assert found.startswith(difference)
    assert bool(found) == bool(difference)


def test_data() -> None:
    trips = duckdb.read_parquet(f"{tables(TRIPS.scaled(SCALE))['t']}/*.parquet")
    assert trips.aggregate("count(*), count(DISTINCT pickup_datetime), count(DISTINCT vendor_id)").fetchall() == [
        (730, 730, 2)
    ]
    skewed = duckdb.read_parquet(f"{tables(SKEWED.scaled(SCALE))['t']}/*.parquet")
    assert skewed.aggregate("count(*), count(DISTINCT ts), count(*) FILTER (k = 0)").fetchall() == [(5000, 5000, 4500)]
