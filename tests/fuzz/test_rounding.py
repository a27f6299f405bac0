"""Sums of doubles may differ by rounding, and by nothing else."""

from __future__ import annotations

import math

import pytest

from fuzz.cases.window_rounding import Rounding


def function(kind: str | None, call: str = "sum(x)") -> Rounding:
    return Rounding({"call": call, "frame": "", "rounding": kind, "of": "x", "filter": ""}, 0)


@pytest.mark.parametrize(
    ("value", "wanted", "agree"),
    [
        (0.1 + 0.2, 0.3, True),
        (0.3001, 0.3, False),
        (math.nan, math.nan, True),
        (math.nan, math.inf, False),
        (math.inf, 1e308, False),
        (None, 0.0, False),
        (None, None, True),
    ],
)
def test_sums(value: float | None, wanted: float | None, agree: bool) -> None:
    assert function("sum").agree(value, wanted, [0.3, 2, 0.2, 0.01]) is agree


def test_the_order_of_ties_decides_whether_a_sum_overflows_on_the_way() -> None:
    assert function("sum").agree(-math.inf, -1e308, [math.inf, 3, 1e308, math.nan])
    assert not function("sum").agree(-math.inf, -1e308, [math.inf, 3, math.inf, math.nan])


def test_an_overflow_on_the_way_meets_an_infinite_value() -> None:
    # inf - 1e308 - 1e308, or -1e308 - 1e308 + inf
    assert function("sum").agree(math.nan, math.inf, [math.inf, 3, math.inf, math.nan, math.inf])
    assert not function("sum").agree(math.nan, math.inf, [math.inf, 3, math.inf, math.nan, 2.0])


def test_the_order_of_ties_decides_whether_try_sum_is_null() -> None:
    most = 2**63 - 1  # 1 + most - 1, or 1 - 1 + most
    assert function("overflow", "try_sum(x)").agree(most, None, [])
    assert not function("overflow", "try_sum(x)").agree(most, most - 1, [])
    assert not function(None, "try_sum(x)").agree(most, None, [])


def test_what_is_exact_is_compared_to_the_bit() -> None:
    assert not function(None).agree(0.1 + 0.2, 0.3, [])
    assert not function(None).agree(0.0, -0.0, [])


@pytest.mark.parametrize(
    ("value", "wanted", "agree"),
    [(0.0, -0.0, True), (math.nan, math.nan, True), (1.0, 1.5, False), (0.0, None, False), (math.nan, 0.0, False)],
)
def test_either_zero_is_the_least_of_both(value: float, wanted: float | None, agree: bool) -> None:
    assert function("zero", "min(x)").agree(value, wanted, []) is agree


def test_quotients_by_no_variance_are_not_compared() -> None:
    assert function("ratio", "kurtosis(x)").agree(17.0, math.nan, [10.0, 5, 2.0, 0.0, 0.0])
