"""The fuzzer counts an application that dies as a difference, unless stock Spark dies, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from fuzz import runner
from fuzz.report import Report

CASE = {"capability": "window", "variant": {}}


@pytest.mark.parametrize(
    ("stock_dies", "prepares", "differences"), [(True, True, 0), (False, True, 1), (True, False, 1)]
)
def test_death_is_a_difference_unless_stock_dies_of_the_case(
    monkeypatch: pytest.MonkeyPatch, stock_dies: bool, prepares: bool, differences: int
) -> None:
    def events(order: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if "replay" not in order:
            yield {"event": "start", "case": CASE}
        elif prepares:
            yield {"event": "prepared"}
        if "replay" in order and not stock_dies:
            assert order["replay"] == [CASE]
            assert order["stock"]
            yield {"event": "verdict"}
            return
        yield {"event": "died", "reason": "out of memory"}

    monkeypatch.setattr(runner, "events_alone", events)
    report = Report(1, ["window"])
    runner.run_round({"static": {}}, report, None, events)
    assert len(report.differences) == differences
    assert report.not_compared["window"] == 1 - differences


def test_the_status_of_a_jvm_that_ends_is_told() -> None:
    order = {**runner.replay_order([], {"spark.master": "local[1]"}), "seconds": 60, "cases": ["window"]}
    with runner.Application() as application:
        for event in application.events(order):
            if event["event"] == "query":
                (jvm,) = psutil.Process(application.process.pid).children()
                jvm.kill()
    assert event["event"] == "died"
    assert event["reason"].rstrip().endswith("the JVM's exit status is -9")
