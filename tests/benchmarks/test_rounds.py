"""The rounds of a case run the right engines the right number of times; the engines here do no work."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.common.engines import Engine, Fraction, Run, SparkDigest, stoppable
from benchmarks.common.rounds import FLOOR, OURS, Bound, Case, compare
from benchmarks.common.verdict import judge


class Timed(Engine):
    """An engine that reports a fixed number of seconds for each run."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def answer(self, limit: float | None = None) -> Run:
        return Run(self.seconds)

    def check(self, limit: float | None = None) -> Run:
        return Run(self.seconds, digest="the answer")


class InJvm(Timed):
    """An engine that can also run in a fresh JVM, where it takes a second more."""

    def in_fresh_jvm(self, tables: Mapping[str, Path], joinery: bool, limit: float | None = None) -> Run:
        return Run(self.seconds + 1)


class Same(SparkDigest):
    """Compares answers as values, without Spark."""

    def spark(self, session: Any, sql: str) -> Any:
        raise NotImplementedError

    def differ(self, theirs: Any, ours: Any) -> str:
        return "" if theirs == ours else f"answers {theirs}"


@pytest.mark.parametrize(("seconds", "met"), [(0.25, True), (0.15, False)])
def test_an_extrapolated_peer_is_held_against_a_bound_with_all_its_rows(seconds: float, met: bool) -> None:
    """The extrapolated time is far above the limit for a peer, but the run on a share of the rows is not."""
    case = Case(name="c", bounds=(Bound(("extrapolated",), 1000),))
    outcome = compare(case, {OURS: Timed(1), "extrapolated": Fraction(Timed(seconds), 0.0002)}, Same())
    assert len(outcome.engines["extrapolated"].runs) == 2
    assert not outcome.engines["extrapolated"].stopped()
    result = judge("test", "test", [outcome])
    assert result.met is met
    assert result.rows[1][2:6] == [*[f"{seconds * 5000:.2f}"] * 2, "1000", "met" if met else "**not met**"]
    assert result.data["c"]["extrapolated"]["required"] == {"seconds": [1000]}


REWRITES = Bound(("slow rewrite", "fast rewrite"), 1.5)
ONCE = {"slow rewrite": 1, "fast rewrite": 1, "another": 1, "very slow": 1, "DuckDB": 0, FLOOR: 1}


@pytest.mark.parametrize(
    ("bounds", "repeated"),
    [
        ((), set()),
        ((REWRITES,), {"fast rewrite"}),
        ((REWRITES, Bound(("DuckDB",), 1)), {"fast rewrite"}),
        ((REWRITES, Bound(("another",), 2, kind="first")), {"fast rewrite", "another"}),
        ((Bound(("very slow",), 2),), set()),
    ],
)
def test_first_runs_are_repeated_where_they_are_judged(bounds: tuple[Bound, ...], repeated: set[str]) -> None:
    peers = {"slow rewrite": 4, "fast rewrite": 2, "another": 3, "very slow": 30, FLOOR: 1}
    engines = {OURS: InJvm(1), "DuckDB": Timed(1), **{name: InJvm(seconds) for name, seconds in peers.items()}}
    outcome = compare(Case(name="c", bounds=bounds), engines, Same(), tables={})
    counts = {name: len(measured.first) for name, measured in outcome.engines.items()}
    assert counts == ONCE | dict.fromkeys([OURS, *repeated], 3)


def test_a_stop_that_is_lost_is_sent_again() -> None:
    stops: list[float] = []

    def work() -> None:
        while len(stops) < 2:
            time.sleep(0.01)
        raise RuntimeError("stopped")

    _, stopped, _ = stoppable(work, lambda: stops.append(time.monotonic()), limit=0.05)
    assert stopped
    assert len(stops) == 2


@pytest.mark.parametrize(("seconds", "runs"), [(1.04, 4), (0.96, 4), (1.06, 12), (0.94, 12)])
def test_what_is_apart_after_a_few_rounds_is_looked_at_closer(seconds: float, runs: int) -> None:
    case = Case(name="c", bounds=(Bound(("peer",), 0.95),), rounds=4, closer=12)
    outcome = compare(case, {OURS: Timed(1), "peer": Timed(seconds)}, Same())
    assert [len(measured.runs) for measured in outcome.engines.values()] == [runs, runs]
