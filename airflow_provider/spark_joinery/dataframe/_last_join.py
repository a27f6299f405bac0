"""LAST JOIN on DataFrames, for classic sessions and for Spark Connect."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from spark_joinery.dataframe._arguments import check_choice, check_frames, column_term, key_names, kind, read_on
from spark_joinery.dataframe._session import check_jar, functions_of
from spark_joinery.errors import InvalidArgumentError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_CALLER = "last_join"
_ORDER = "joinery_last_join_order"
_AS_OF = "joinery_last_join_as_of"
_HINTS = ("broadcast", "merge", "shuffle_hash")
_UNITS = ("microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "year")
_INTERVAL = re.compile(rf"\s*(?:interval\s+)?'?(\d+)'?\s+({'|'.join(_UNITS)})s?\s*", re.IGNORECASE)


def last_join(
    left: DataFrame,
    right: DataFrame,
    *,
    on: str | Sequence[str] | Column,
    order_by: str | Column | Sequence[str | Column] | None = None,
    as_of: str | Column | None = None,
    tolerance: datetime.timedelta | str | float | Decimal | Column | None = None,
    hint: str | None = None,
) -> DataFrame:
    """Join each left row with the last of its matches on the right.

    The result has the columns of a left join, and exactly one row per left row. The right columns are those of the last
    right row by `order_by` that passes the whole condition, or NULLs if none passes. Spark's sort order and its
    defaults decide which row is last: ``ts`` means ascending with NULLs first, and under ``col("ts").desc()`` a NULL
    wins.
    Further columns of `order_by` break ties; any one of the rows that still tie is taken.

    Args:
        left: The rows to keep.
        right: The rows to look up, of the same session as `left`.
        on: A column name or names that both sides have (as in USING, they appear once in the result), or any
            boolean condition over both sides.
        order_by: Column names of `right`, or expressions over its columns such as ``col("ts").desc_nulls_last()``;
            the most significant first. Without it, any one match is taken.
        as_of: A time, date or number of the left row, by column name or as an expression over columns of `left`.
            Matches are at or before it by the first column of `order_by`; at or after it if that is descending.
        tolerance: The largest distance of a match from `as_of`, inclusive. Dates, times and timestamps take a
            ``timedelta``, a text such as ``"2 hours"``, or a Column with an interval; numbers take a number; all
            take 0. Spark computes the limit as ``as_of - tolerance``, or ``as_of + tolerance`` under descending
            order. Needs `as_of`.
        hint: ``"broadcast"``, ``"merge"`` or ``"shuffle_hash"``: the operator to use. Without a hint, Spark's
            statistics decide. The result is the same.

    Returns:
        The joined DataFrame.

    Raises:
        InvalidArgumentError: An argument has the wrong type or value, or lacks another that it needs.
        JarNotLoadedError: The session runs without the Joinery extension.

    Example:
        >>> # the latest weather report at or before each departure, if it is no older than two hours
        >>> last_join(
        ...     flights,
        ...     weather,
        ...     on="origin",
        ...     order_by="observed_at",
        ...     as_of="departs_at",
        ...     tolerance=datetime.timedelta(hours=2),
        ... )
    """
    check_frames(_CALLER, left, right)
    condition = key_names(left, read_on(_CALLER, on))
    terms = [column_term(right, term) for term in _order_terms(order_by)]
    _check_as_of(as_of, terms)
    _check_tolerance(tolerance, as_of)
    if hint is not None:
        check_choice(_CALLER, "hint", hint, _HINTS)
    check_jar(_CALLER, left.sparkSession)
    # The extension's analyzer rules recognise a left join whose sides are filtered by marker functions. Spark itself
    # does not know these functions: without the rules the query fails, instead of returning every match.
    functions = functions_of(left)
    if as_of is not None:
        distance = [] if tolerance is None else [_distance(functions, tolerance)]
        left = left.filter(functions.call_function(_AS_OF, column_term(left, as_of), *distance))
    if hint is not None:
        right = right.hint(hint)
    return left.join(right.filter(functions.call_function(_ORDER, *terms)), condition, "left")


def _order_terms(order_by: object) -> list[Any]:
    from pyspark.sql import Column

    if order_by is None:
        return []
    terms = [order_by] if isinstance(order_by, (str, Column)) else order_by
    if not isinstance(terms, Sequence):
        raise InvalidArgumentError(
            f"{_CALLER}: order_by must be a column name, a Column or a list of these, not {kind(order_by)}."
        )
    if not terms:
        raise InvalidArgumentError(f"{_CALLER}: order_by is an empty list; leave it out if any match will do.")
    for term in terms:
        if not isinstance(term, (str, Column)):
            raise InvalidArgumentError(f"{_CALLER}: order_by must hold column names and Columns, not {kind(term)}.")
    return list(terms)


def _check_as_of(as_of: object, terms: Sequence[Any]) -> None:
    from pyspark.sql import Column

    if as_of is None:
        return
    if not isinstance(as_of, (str, Column)):
        raise InvalidArgumentError(f"{_CALLER}: as_of must be a column name or a Column of left, not {kind(as_of)}.")
    if not terms:
        raise InvalidArgumentError(
            f"{_CALLER}: as_of is compared with the first column of order_by; name the right side's time there."
        )


def _check_tolerance(tolerance: object, as_of: object) -> None:
    from pyspark.sql import Column

    if tolerance is None:
        return
    kinds = (datetime.timedelta, str, int, float, Decimal, Column)
    if isinstance(tolerance, bool) or not isinstance(tolerance, kinds):
        raise InvalidArgumentError(
            f"{_CALLER}: tolerance must be a timedelta, an interval such as '2 hours', a number or a Column, "
            f"not {kind(tolerance)}."
        )
    if isinstance(tolerance, str) and not _INTERVAL.fullmatch(tolerance):
        raise InvalidArgumentError(
            f"{_CALLER}: tolerance as text must be an interval such as '2 hours' ({', '.join(_UNITS)}), "
            f"not {tolerance!r:.60}."
        )
    if as_of is None:
        raise InvalidArgumentError(
            f"{_CALLER}: tolerance is a distance from as_of; name the left side's time there, as in as_of='departs_at'."
        )
    if isinstance(tolerance, (Column, str)):
        return
    # not `< 0`, so that NaN is refused, too; the NaN of Decimal raises an error when it is compared
    is_nan = isinstance(tolerance, Decimal) and tolerance.is_nan()
    zero = datetime.timedelta() if isinstance(tolerance, datetime.timedelta) else 0
    if is_nan or not tolerance >= zero:  # type: ignore[operator]
        raise InvalidArgumentError(f"{_CALLER}: tolerance must not be negative, but is {tolerance!r}.")


def _distance(functions: Any, tolerance: object) -> Any:
    found = _INTERVAL.fullmatch(tolerance) if isinstance(tolerance, str) else None
    return functions.expr(f"interval {found[1]} {found[2]}") if found else functions.lit(tolerance)
