"""What the fuzzer makes of an application that dies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
