"""LAST JOIN on DataFrames, for classic sessions and for Spark Connect."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from spark_joinery.errors import InvalidArgumentError, JarNotLoadedError
from spark_joinery.jar import EXTENSION

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ORDER = "joinery_last_join_order"
_AS_OF = "joinery_last_join_as_of"
_HINTS = ("broadcast", "merge", "shuffle_hash")
# Sessions known to have loaded the jar: asking costs a round trip on Spark Connect.
_loaded: WeakSet[Any] = WeakSet()


def last_join(
    left: DataFrame,
    right: DataFrame,
    *,
    on: str | Sequence[str] | Column,
    order_by: str | Column | Sequence[str | Column] | None = None,
    as_of: str | Column | None = None,
    tolerance: datetime.timedelta | float | Decimal | Column | None = None,
    hint: str | None = None,
) -> DataFrame:
    """Join each left row with the last of its matches on the right.

    The result has exactly one row per left row, in the columns of a left join: of the right rows that pass the whole
    condition the last one by `order_by`, or NULLs if none passes. Spark's sort order and its defaults decide what is
    last, so ``ts`` means ascending with NULLs first, and under ``col("ts").desc()`` a NULL wins. Ties are broken by
    further columns of `order_by`; where none are left, any one of the tied rows is taken.

    Args:
        left: The rows to keep.
        right: The rows to look up, of the same session as `left`.
        on: A column name or names that both sides have (as in USING, they appear once in the result), or any
            boolean condition over both sides.
        order_by: Column names of `right`, or expressions over its columns such as ``col("ts").desc_nulls_last()``;
            the most significant first. Without it, any one match is taken.
        as_of: A time, date or number of the left row, by column name or as an expression over columns of `left`:
            matches lie at or before it by the first column of `order_by`; at or after it if that is descending.
        tolerance: How far from `as_of` a match may lie at most; exactly as far still counts. A ``timedelta``, or a
            Column with an interval, for dates and timestamps; a number for numbers. The limit is what Spark makes
            of ``as_of - tolerance`` (under descending order ``as_of + tolerance``). Needs `as_of`.
        hint: ``"broadcast"``, ``"merge"`` or ``"shuffle_hash"``: the operator to use. By default Spark's statistics
            decide. The result is the same.

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
    _check_frames(left, right)
    condition = _join_condition(on)
    terms = _order_terms(order_by)
    _check_as_of(as_of, terms)
    _check_tolerance(tolerance, as_of)
    _check_hint(hint)
    _check_jar(left.sparkSession)
    # The extension's analyzer rules recognise a left join whose sides are filtered by markers. Spark itself does not
    # know the functions: should the rules be missing, the query fails instead of returning every match.
    functions = _functions(left)
    if as_of is not None:
        distance = [] if tolerance is None else [functions.lit(tolerance)]
        left = left.filter(functions.call_function(_AS_OF, as_of, *distance))
    if hint is not None:
        right = right.hint(hint)
    return left.join(right.filter(functions.call_function(_ORDER, *terms)), condition, "left")


def _functions(frame: DataFrame) -> Any:
    """The functions module that fits a DataFrame; both kinds may live in one process."""
    if _is_connect(frame):
        from pyspark.sql.connect import functions

        return functions
    from pyspark.sql import functions as classic_functions

    return classic_functions


def _is_connect(value: object) -> bool:
    # by name: importing Connect's classes requires grpc, which classic users need not have
    return type(value).__module__.startswith("pyspark.sql.connect")


def _check_frames(left: object, right: object) -> None:
    from pyspark.sql import DataFrame

    for name, frame in (("left", left), ("right", right)):
        if not isinstance(frame, DataFrame):
            raise InvalidArgumentError(f"last_join: {name} must be a DataFrame, not {_kind(frame)}.")
    if _is_connect(left) != _is_connect(right):
        raise InvalidArgumentError("last_join: left and right must come from the same Spark session.")


def _join_condition(on: object) -> Any:
    from pyspark.sql import Column

    if isinstance(on, (str, Column)):
        return on
    if not isinstance(on, Sequence):
        raise InvalidArgumentError(
            f"last_join: on must be a column name, a list of column names or a Column, not {_kind(on)}."
        )
    if not on:
        raise InvalidArgumentError("last_join: on is an empty list; name at least one column.")
    for name in on:
        if isinstance(name, Column):
            raise InvalidArgumentError("last_join: combine conditions with &, as in on=(a == b) & (c <= d).")
        if not isinstance(name, str):
            raise InvalidArgumentError(f"last_join: the list given as on must hold column names, not {_kind(name)}.")
    return list(on)


def _order_terms(order_by: object) -> list[Any]:
    from pyspark.sql import Column

    if order_by is None:
        return []
    terms = [order_by] if isinstance(order_by, (str, Column)) else order_by
    if not isinstance(terms, Sequence):
        raise InvalidArgumentError(
            f"last_join: order_by must be a column name, a Column or a list of these, not {_kind(order_by)}."
        )
    if not terms:
        raise InvalidArgumentError("last_join: order_by is an empty list; leave it out if any match will do.")
    for term in terms:
        if not isinstance(term, (str, Column)):
            raise InvalidArgumentError(f"last_join: order_by must hold column names and Columns, not {_kind(term)}.")
    return list(terms)


def _check_as_of(as_of: object, terms: Sequence[Any]) -> None:
    from pyspark.sql import Column

    if as_of is None:
        return
    if not isinstance(as_of, (str, Column)):
        raise InvalidArgumentError(f"last_join: as_of must be a column name or a Column of left, not {_kind(as_of)}.")
    if not terms:
        raise InvalidArgumentError(
            "last_join: as_of is compared with the first column of order_by; name the right side's time there."
        )


def _check_tolerance(tolerance: object, as_of: object) -> None:
    from pyspark.sql import Column

    if tolerance is None:
        return
    if isinstance(tolerance, bool) or not isinstance(tolerance, (datetime.timedelta, int, float, Decimal, Column)):
        raise InvalidArgumentError(
            f"last_join: tolerance must be a timedelta, a number or a Column, not {_kind(tolerance)}."
        )
    if as_of is None:
        raise InvalidArgumentError(
            "last_join: tolerance is a distance from as_of; name the left side's time there, as in as_of='departs_at'."
        )
    if isinstance(tolerance, Column):
        return
    # not `< 0`, so that NaN is refused, too
    if not (tolerance >= datetime.timedelta() if isinstance(tolerance, datetime.timedelta) else tolerance >= 0):
        raise InvalidArgumentError(f"last_join: tolerance must not be negative, but is {tolerance!r}.")


def _check_hint(hint: object) -> None:
    if hint is not None and hint not in _HINTS:
        raise InvalidArgumentError(f"last_join: hint must be one of {', '.join(_HINTS)}, not {_kind(hint)}.")


def _kind(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__} ({value!r:.60})"


def _check_jar(spark: Any) -> None:
    if spark in _loaded:
        return
    if not spark.catalog.functionExists(_ORDER):
        raise JarNotLoadedError(
            "last_join: this Spark session runs without the Joinery extension. Create the session with "
            "spark_joinery.configure_spark(SparkSession.builder).getOrCreate(), before any other session exists in "
            f"this process; start a Spark Connect server with the jar and spark.sql.extensions={EXTENSION}."
        )
    _loaded.add(spark)
