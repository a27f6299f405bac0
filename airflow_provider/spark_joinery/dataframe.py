"""LAST JOIN on DataFrames, for classic sessions and for Spark Connect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from spark_joinery.errors import InvalidArgumentError, JarNotLoadedError
from spark_joinery.jar import EXTENSION

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MARKER = "joinery_last_join_order"
# Sessions known to have loaded the jar: asking costs a round trip on Spark Connect.
_loaded: WeakSet[Any] = WeakSet()


def last_join(
    left: DataFrame,
    right: DataFrame,
    *,
    on: str | Sequence[str] | Column,
    order_by: str | Column | Sequence[str | Column] | None = None,
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

    Returns:
        The joined DataFrame.

    Raises:
        InvalidArgumentError: An argument has the wrong type or is empty.
        JarNotLoadedError: The session runs without the Joinery extension.

    Example:
        >>> # the latest weather report at or before each departure
        >>> last_join(
        ...     flights,
        ...     weather,
        ...     on=(flights.origin == weather.origin) & (weather.observed_at <= flights.departs_at),
        ...     order_by=weather.observed_at,
        ... )
    """
    _check_frames(left, right)
    condition = _join_condition(on)
    terms = _order_terms(order_by)
    _check_jar(left.sparkSession)
    # The extension's analyzer rule recognises a left join whose right side is filtered by the marker. Spark itself
    # does not know the function: should the rule be missing, the query fails instead of returning every match.
    marker = _functions(left).call_function(_MARKER, *terms)
    return left.join(right.filter(marker), condition, "left")


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


def _kind(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__} ({value!r:.60})"


def _check_jar(spark: Any) -> None:
    if spark in _loaded:
        return
    if not spark.catalog.functionExists(_MARKER):
        raise JarNotLoadedError(
            "last_join: this Spark session runs without the Joinery extension. Create the session with "
            "spark_joinery.configure_spark(SparkSession.builder).getOrCreate(), before any other session exists in "
            f"this process; start a Spark Connect server with the jar and spark.sql.extensions={EXTENSION}."
        )
    _loaded.add(spark)
