"""Errors before a query, while its tables and artifacts are made. An error of a job never goes unnoticed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from fuzz import round as rounds
from fuzz import runner
from fuzz.capability import Case
from fuzz.cases.window import SlidingWindow
from fuzz.checking import Verdict
from fuzz.report import Report
from fuzz.running import Answer, ApplicationDied

ORDER = {"seed": 1, "seconds": 60, "static": {}, "most": 1, "cases": ["window"]}


class Unprepared(SlidingWindow):
    """A capability whose cases cannot be prepared."""

    def __init__(self, expected: bool) -> None:
        self.expected = expected

    def prepare(self, spark: SparkSession, folder: Path, case: Case) -> None:
        raise ValueError("no table")

    def expects(self, error: Exception, case: Case) -> bool:
        return self.expected


def application(stopped: bool) -> SparkSession:
    context = SimpleNamespace(sc=lambda: SimpleNamespace(isStopped=lambda: stopped))
    return cast(SparkSession, SimpleNamespace(sparkContext=SimpleNamespace(_jsc=context)))


def told(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(("expected", "event"), [(True, "refused"), (False, "unprepared")])
def test_an_error_that_no_case_asks_for_is_told_apart(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, expected: bool, event: str
) -> None:
    capability = Unprepared(expected)
    this = rounds.Round(ORDER, application(stopped=False), tmp_path)
    this.query(capability, capability.draw_tables(this.rng))
    query, outcome = told(capsys)
    assert query["event"] == "query"
    assert outcome["event"] == event
    assert "ValueError: no table" in outcome["error"]


def test_a_round_ends_with_its_application(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(rounds.CAPABILITIES, "window", Unprepared(expected=True))
    with pytest.raises(ApplicationDied, match="no table"):
        rounds.Round(ORDER, application(stopped=True), tmp_path).run()
    assert [event["event"] for event in told(capsys)] == ["query", "unprepared"]


class Recorded(SlidingWindow):
    """Remembers the tables that were made last."""

    runs = 2

    def prepare(self, spark: SparkSession, folder: Path, case: Case) -> None:
        self.rows = case["tables"]["t"]["rows"]


def test_runs_after_a_reduction_read_the_whole_tables_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capability = Recorded()
    seen = []

    def check(*_: object) -> Verdict:
        seen.append(capability.rows)
        return Verdict("other rows", True, signature="rows")

    def to_one_row(case: Case, fails: Callable[[Case], bool], _: float) -> Case:
        small = {**case, "tables": {"t": {**case["tables"]["t"], "rows": 1}}}
        assert fails(small)
        return small

    monkeypatch.setattr(rounds, "reduce", to_one_row)
    monkeypatch.setattr(rounds, "right_answer", lambda *_: Answer(rows=pa.table({})))
    monkeypatch.setattr(rounds, "check", check)
    order = {**ORDER, "most": 2, "reduce": 5, "ignore": []}
    tables = {"t": {**capability.draw_tables(random.Random(1))["t"], "rows": 64}}
    rounds.Round(order, application(stopped=False), tmp_path).query(capability, tables)
    assert [event["event"] for event in told(capsys)].count("reduced") == 1
    assert (seen[0], min(seen), seen[-1]) == (64, 1, 64)


def test_errors_of_jobs_are_counted_by_themselves(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def events(order: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield {"event": "unprepared", "capability": "window", "error": "ValueError: no table"}
        yield {"event": "unprepared", "capability": "window", "error": "ValueError: no table"}
        yield {"event": "ended"}

    report = Report(1, ["window"])
    runner.run_round({"static": {}}, report, None, events)
    assert report.as_json()["not_prepared"] == {"window: ValueError: no table": 2}
    assert "- 2 times window: ValueError: no table" in report.markdown()
    assert not report.not_compared
    assert capsys.readouterr().out.count("no table") == 1
