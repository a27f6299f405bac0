"""Range joins on DataFrames, for classic sessions and for Spark Connect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spark_joinery.dataframe._arguments import check_choice, check_frames, key_names, read_on
from spark_joinery.dataframe._range_arguments import CALLER, Range, check_bounds, read_how, read_ranges
from spark_joinery.dataframe._session import check_jar
from spark_joinery.dataframe._sides import Sides

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def range_join(
    left: DataFrame,
    right: DataFrame,
    *,
    left_point: str | Column | None = None,
    left_interval: Sequence[str | Column] | None = None,
    right_point: str | Column | None = None,
    right_interval: Sequence[str | Column] | None = None,
    bounds: str = "[]",
    on: str | Sequence[str] | Column | None = None,
    how: str = "inner",
    broadcast: str | None = None,
) -> DataFrame:
    """Join the points of one side with the intervals of the other that hold them, or intervals that overlap.

    Each side gives a point or an interval, and at least one of them an interval. The result is that of
    ``left.join(right, condition, how)`` with the comparisons written out. A NULL matches nothing. An interval whose
    end is before its start matches exactly if the comparisons are true.

    Args:
        left: One side.
        right: The other side, of the same session as `left`.
        left_point: The point of a left row, by column name or as an expression over columns of `left`.
        left_interval: The interval of a left row: its start and its end, likewise.
        right_point: The point of a right row.
        right_interval: The interval of a right row.
        bounds: Which ends belong to an interval: ``"[]"`` both, ``"[)"`` the start, ``"(]"`` the end, ``"()"``
            neither. Two intervals that only touch overlap under ``"[]"`` alone.
        on: A further condition: a column name or names that both sides have, or any boolean condition over both
            sides. Columns given by name must be equal, and appear once in the result, as in USING.
        how: The type of join, as in ``DataFrame.join()``: ``"inner"``, ``"cross"``, ``"left"``, ``"right"``,
            ``"full"``, ``"semi"``, ``"anti"``, or another of their names there.
        broadcast: ``"left"`` or ``"right"``: the side to index and broadcast. Without it, Spark's statistics decide.
            The result is the same.

    Returns:
        The joined DataFrame. Columns given as names in `on` come first. They have the left side's values; a right
        join has the right's, and a full join has the right's for rows without a left side.

    Raises:
        InvalidArgumentError: An argument has the wrong type or value, or lacks another that it needs.
        JarNotLoadedError: The session runs without the Joinery extension.

    Example:
        >>> # the storms over each flight's airport when it was due to leave
        >>> range_join(
        ...     flights,
        ...     storms,
        ...     on="origin",
        ...     left_point="departs_at",
        ...     right_interval=("starts_at", "ends_at"),
        ...     bounds="[)",
        ... )
    """
    check_frames(CALLER, left, right)
    ranges = read_ranges(left_point, left_interval, right_point, right_interval)
    check_bounds(bounds)
    keys = None if on is None else key_names(left, read_on(CALLER, on))
    join_type = read_how(how)
    if broadcast is not None:
        check_choice(CALLER, "broadcast", broadcast, ("left", "right"))
    check_jar(CALLER, left.sparkSession)

    names = list(dict.fromkeys(keys)) if isinstance(keys, list) else []
    sides = Sides(left, right, ranges, names)
    condition = _comparisons(*sides.ranges, bounds)
    if keys is not None and not names:
        condition = keys & condition
    for left_key, right_key in reversed(sides.keys):
        condition = (left_key == right_key) & condition
    left, right = sides.left, sides.right
    if broadcast == "left":
        left = left.hint("broadcast")
    elif broadcast == "right":
        right = right.hint("broadcast")
    # outermost: of two hints on one side Spark keeps what the outer one is
    joined = left.join(right.hint("range_join"), condition, join_type)
    return sides.result(joined, join_type)


def _comparisons(left: Range, right: Range, bounds: str) -> Any:
    if not left.is_point and not right.is_point:
        is_open = bounds != "[]"
        return _below(left.start, right.end, is_open) & _below(right.start, left.end, is_open)
    point, interval = (left, right) if left.is_point else (right, left)
    return _below(interval.start, point.start, bounds[0] == "(") & _below(point.end, interval.end, bounds[1] == ")")


def _below(lower: Any, upper: Any, is_open: bool) -> Any:
    return lower < upper if is_open else lower <= upper
