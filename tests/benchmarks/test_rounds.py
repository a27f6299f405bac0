"""What the rounds of a case run and how often, with engines that only say that they ran."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.common.engines import Engine, Fraction, Run, SparkDigest
from benchmarks.common.rounds import OURS, Bound, Case, compare
from benchmarks.common.verdict import judge


class Timed(Engine):
    """Takes so many seconds, whatever it is asked."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def answer(self, limit: float | None = None) -> Run:
        return Run(self.seconds)

    def check(self, limit: float | None = None) -> Run:
        return Run(self.seconds, digest="the answer")


class Same(SparkDigest):
    """Of answers that are."""

    def spark(self, session: Any, sql: str) -> Any:
        raise NotImplementedError

    def differ(self, theirs: Any, ours: Any) -> str:
        return "" if theirs == ours else f"answers {theirs}"


@pytest.mark.parametrize(("seconds", "met"), [(0.25, True), (0.15, False)])
def test_an_extrapolated_peer_is_held_against_a_bound_with_all_its_rows(seconds: float, met: bool) -> None:
    """Its time is far beyond where a peer is stopped, but it takes only that of its share."""
    case = Case(name="c", bounds=(Bound(("extrapolated",), 1000, kind="default"),))
    outcome = compare(case, {OURS: Timed(1), "extrapolated": Fraction(Timed(seconds), 0.0002)}, Same())
    assert len(outcome.engines["extrapolated"].runs) == 2
    assert not outcome.engines["extrapolated"].stopped()
    result = judge("test", "test", [outcome])
    assert result.met is met
    assert result.rows[1][2:4] == [f"{seconds * 5000:.2f}"] * 2
    assert result.rows[1][6:8] == ["1000", "met" if met else "**not met**"]
    assert "What is required of warm runs is required at Spark's defaults." in result.notes
