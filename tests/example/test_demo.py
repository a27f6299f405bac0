"""The parts behind the demo's table stop queries in time, find operators in plans, and notice differing answers."""

from __future__ import annotations

import importlib
import json
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import sleep
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from .conftest import EXAMPLE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENDLESS = "SELECT sum(id % 7) AS total FROM range(100000000000000)"


@pytest.fixture
def timing(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return importlib.import_module("timing")


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return importlib.import_module("answers")


def test_a_query_is_stopped_at_its_limit_and_the_next_one_runs(
    spark: SparkSession, timing: ModuleType, tmp_path: Path
) -> None:
    assert timing.timed(spark, "plain", ENDLESS, tmp_path / "rows", limit=2) is None
    running = spark._jsc.sc().statusTracker().getExecutorInfos()
    assert not any(executor.numRunningTasks() for executor in running)
    assert timing.timed(spark, "plain", "SELECT 1 AS one", tmp_path / "rows", limit=60).seconds > 0
    assert spark.read.parquet(str(tmp_path / "rows")).collect() == [(1,)]


def test_tasks_that_do_not_end_are_an_error_and_not_a_slower_next_query(
    spark: SparkSession, timing: ModuleType
) -> None:
    def busy() -> bool:
        return any(executor.numRunningTasks() for executor in spark._jsc.sc().statusTracker().getExecutorInfos())

    def run() -> None:
        with suppress(Exception):
            spark.sql(ENDLESS).collect()

    query = Thread(target=run)
    query.start()
    try:
        while query.is_alive() and not busy():
            sleep(0.1)
        with pytest.raises(timing.StillRunningError, match="still run after 0 s"):
            timing.wait_for_tasks(spark, at_most=0)
    finally:
        # repeated, because a query that is cancelled before it has a job goes on
        while query.is_alive():
            spark.sparkContext.cancelAllJobs()
            query.join(0.5)
    timing.wait_for_tasks(spark)
    assert not busy()


def test_what_a_query_shuffles_is_its_own(spark: SparkSession, timing: ModuleType, tmp_path: Path) -> None:
    one, other = (
        timing.timed(spark, "plain", f"SELECT /*+ REPARTITION(id) */ id FROM range({rows})", tmp_path / "rows")
        for rows in (200_000, 1_000)
    )
    assert one.shuffled > 20 * other.shuffled > 0
    assert timing.timed(spark, "plain", "SELECT 1 AS one", tmp_path / "rows").shuffled == 0


def test_an_error_in_a_query_is_not_taken_for_a_stopped_one(
    spark: SparkSession, timing: ModuleType, tmp_path: Path
) -> None:
    with pytest.raises(Exception, match="the query's own error"):
        timing.timed(spark, "plain", "SELECT raise_error('the query''s own error') AS x", tmp_path / "rows", limit=60)


def test_stopped_queries_are_remembered_until_query_or_data_change(
    spark: SparkSession, timing: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "LIMIT", 2.0)
    memory = tmp_path / "stopped.json"
    queries = {"slow": ENDLESS, "quick": "SELECT 1 AS one"}
    first = timing.LimitedQueries("plain", queries, memory, "data").time(spark, "slow", tmp_path / "rows")
    assert first.seconds is None
    assert timing.LimitedQueries("plain", queries, memory, "data").time(spark, "slow", tmp_path / "never") == first
    assert not (tmp_path / "never").exists()

    monkeypatch.setattr(timing, "LIMIT", 60.0)
    assert timing.LimitedQueries("plain", queries, memory, "data").time(spark, "quick", tmp_path / "rows").seconds > 0
    assert len(json.loads(memory.read_text())) == 1
    changed = timing.LimitedQueries("plain", {"slow": "SELECT 2 AS two"}, memory, "data")
    assert changed.time(spark, "slow", tmp_path / "rows").seconds > 0


def test_a_time_with_the_jar_needs_its_operator_in_the_plan(spark: SparkSession, timing: ModuleType) -> None:
    join = "SELECT a.id, b.id AS other FROM range(9) a {} range(9) b ON a.id = b.id"
    assert timing.runs_in_jar(spark, "flight_weather", join.format("LAST JOIN"))
    assert not timing.runs_in_jar(spark, "flight_weather", join.format("LEFT JOIN"))
    # the name of an operator in the text of a query is not an operator
    assert not timing.runs_in_jar(spark, "carrier_delays", "SELECT 'SlidingWindow' AS name, id FROM range(3)")


def test_joinery_is_not_timed_as_portable_or_plain_sql(spark: SparkSession, timing: ModuleType, tmp_path: Path) -> None:
    assert timing.has_extension(spark)
    plain = timing.LimitedQueries("plain", {"carrier_delays": "SELECT 1 AS one"}, tmp_path / "stopped.json", "data")
    with pytest.raises(ValueError, match="this session has the extension"):
        timing.time_without_jar(spark, {"carrier_delays": None}, plain, plain, tmp_path, print)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("(1, NULL), (2, 'b')", "(2, 'b'), (1, NULL)", True),
        ("(1, NULL)", "(1, '')", False),
        ("(1, 'a'), (1, 'a')", "(1, 'a')", False),
        ("(1, 'a'), (1, 'a'), (2, 'b')", "(1, 'a'), (2, 'b'), (2, 'b')", False),
    ],
)
def test_answers_are_compared_as_bags_of_rows(
    spark: SparkSession, answers: ModuleType, one: str, other: str, same: bool
) -> None:
    left = spark.sql(f"SELECT * FROM VALUES {one} AS t (id, name)")
    right = spark.sql(f"SELECT name, id FROM VALUES {other} AS t (id, name)")
    assert answers.same_rows(left, right) is same
    assert not answers.same_rows(left, right.withColumnRenamed("name", "title"))


def test_the_gain_of_a_stopped_query_is_a_least_one(timing: ModuleType) -> None:
    demo = importlib.import_module("demo")
    stopped = timing.Timing(None, stopped_on="2026-11-27")
    assert demo.gain(timing.Timing(2.0), timing.Timing(35.0)) == "17.5 x"
    assert demo.gain(timing.Timing(2.0), stopped) == "> 30.0 x"
    assert demo.gain(None, stopped) == "-"
    assert timing.progress("flight_weather", "jar", timing.Timing(2.0)) == "  flight_weather, jar: 2.0 s"
    assert timing.progress("delays", "plain SQL", stopped) == "  delays, plain SQL: stopped at 60 s on 2026-11-27"
