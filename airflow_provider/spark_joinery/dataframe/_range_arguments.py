"""Checks of the arguments that range_join alone has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spark_joinery.dataframe._arguments import check_choice, kind
from spark_joinery.errors import InvalidArgumentError

CALLER = "range_join"
BOUNDS = ("[]", "[)", "(]", "()")
# from every spelling that DataFrame.join() takes, without underscores, to the one that is used here
_TYPES = {
    "inner": "inner",
    "cross": "cross",
    "outer": "full",
    "full": "full",
    "fullouter": "full",
    "left": "left",
    "leftouter": "left",
    "right": "right",
    "rightouter": "right",
    "semi": "semi",
    "leftsemi": "semi",
    "anti": "anti",
    "leftanti": "anti",
}


@dataclass(frozen=True)
class Range:
    """The point or interval that one side compares, by column name or as a Column.

    Attributes:
        start: The start of the interval, or the point.
        end: The end of the interval, or the same point.
        is_point: Whether it is a point.
    """

    start: Any
    end: Any
    is_point: bool


def read_ranges(
    left_point: object, left_interval: object, right_point: object, right_interval: object
) -> tuple[Range, Range]:
    """Return the ranges of left and right, at least one of them an interval."""
    left = _read_range("left", left_point, left_interval)
    right = _read_range("right", right_point, right_interval)
    if left.is_point and right.is_point:
        raise InvalidArgumentError(
            f"{CALLER}: left_point and right_point are both points; give the interval of one side, "
            "as in right_interval=('starts_at', 'ends_at'). Points that have to be equal belong into on."
        )
    return left, right


def _read_range(side: str, point: object, interval: object) -> Range:
    if point is not None and interval is not None:
        raise InvalidArgumentError(f"{CALLER}: {side}_point and {side}_interval are both given; remove one of them.")
    if point is not None:
        if not _is_term(point):
            raise InvalidArgumentError(f"{CALLER}: {side}_point must be a column name or a Column, not {kind(point)}.")
        return Range(point, point, is_point=True)
    if interval is not None:
        if isinstance(interval, str) or not isinstance(interval, Sequence) or len(interval) != 2:
            raise InvalidArgumentError(
                f"{CALLER}: {side}_interval must be two column names or Columns, as in ('starts_at', 'ends_at'), "
                f"not {kind(interval)}."
            )
        for bound in interval:
            if not _is_term(bound):
                raise InvalidArgumentError(
                    f"{CALLER}: {side}_interval must hold column names and Columns, not {kind(bound)}."
                )
        return Range(interval[0], interval[1], is_point=False)
    raise InvalidArgumentError(
        f"{CALLER}: nothing of {side} is to be compared; give {side}_point, as in {side}_point='departs_at', "
        f"or {side}_interval, as in {side}_interval=('starts_at', 'ends_at')."
    )


def _is_term(value: object) -> bool:
    from pyspark.sql import Column

    return isinstance(value, (str, Column))


def read_how(how: object) -> str:
    """Return the type of join that a spelling means."""
    found = _TYPES.get(how.lower().replace("_", "")) if isinstance(how, str) else None
    if found is None:
        raise InvalidArgumentError(
            f"{CALLER}: how must be one of {', '.join(dict.fromkeys(_TYPES.values()))}, "
            f"or another name that DataFrame.join() has for these, not {kind(how)}."
        )
    return found


def check_bounds(bounds: object) -> None:
    """Raise an error unless `bounds` is one of the four spellings."""
    check_choice(CALLER, "bounds", bounds, BOUNDS)
