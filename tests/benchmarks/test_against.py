"""The comparison of two jars, tested on tiny data, without judging times."""

from __future__ import annotations

from pathlib import Path

import pytest
import spark_joinery

from benchmarks.against import JOINS, WINDOWS, Jar, in_turn, result, ways


def test_every_case_of_joins_and_windows_is_compared() -> None:
    assert {way.case for way in ways()} == JOINS.keys() | WINDOWS.keys()
    assert len({(way.case, way.name) for way in ways()}) == len(list(ways()))


def test_a_slower_query_misses_the_bound_though_its_median_does_not() -> None:
    first, second = list(ways())[:2]
    page = result({first: [[(1.0, 1.0), (1.0, 0.99)]], second: [[(1.0, 0.9), (2.0, 1.9), (1.0, 5.0)]]}, "abc")
    assert [row[-1] for row in page.rows] == ["met", "**not met**"]
    assert not page.met
    assert page.verdict == f"{second.case}, {second.name}: 0.95"


def test_one_pair_of_jvms_that_does_worse_does_not_decide() -> None:
    way = next(ways())
    page = result({way: [[(1.0, 1.0)], [(2.0, 1.0), (2.0, 1.0)], [(1.0, 1.02)]]}, "abc")
    assert page.met
    assert page.rows[0][4:6] == ["1.00", "0.50 to 1.02"]


@pytest.mark.soak
def test_two_jars_run_the_same_queries() -> None:
    jar = Path(spark_joinery.jar_path())
    way = next(way for way in ways(0.0005) if way.case == "window_article")
    with Jar(jar) as new, Jar(jar) as old:
        seconds = in_turn(new, old, way, warm_up=1, rounds=2)
        assert len(seconds) == 2
        assert all(before > 0 < after for before, after in seconds)


@pytest.mark.soak
def test_a_jar_that_is_none_is_an_error(tmp_path: Path) -> None:
    way = next(ways(0.0005))
    with Jar(tmp_path / "none.jar") as jar, pytest.raises(RuntimeError, match="last_join_multi, 1 M, 1 per key"):
        jar.seconds(way)
