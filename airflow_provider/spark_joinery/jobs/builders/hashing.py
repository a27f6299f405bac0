"""Bring keys to a form in which equal keys hash alike."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DoubleType, FloatType, IntegralType, StringType

_UNHASHABLE = ("array", "map", "struct", "variant", "interval", "geometry", "geography")


def is_hashable(data_type: DataType) -> bool:
    """Whether equal values of a type hash alike, once they are `hashable`.

    Args:
        data_type: Type of a key.

    Returns:
        False for nested types, and for strings with a collation, which may make different strings equal.
    """
    collated = isinstance(data_type, StringType) and "collate" in data_type.simpleString().lower()
    return not collated and not data_type.simpleString().startswith(_UNHASHABLE)


def hashable(key: Column, data_type: DataType) -> Column:
    """Bring equal keys to one form: integers of all widths hash alike, as do -0.0 and 0.0, and all NaN.

    Args:
        key: The key.
        data_type: Its type, which `is_hashable`.

    Returns:
        A value for `xxhash64`.
    """
    if isinstance(data_type, IntegralType):
        return key.cast("bigint")
    if isinstance(data_type, FloatType | DoubleType):
        double = key.cast("double")
        return F.when(F.isnan(double), F.lit(float("nan"))).when(double == 0, F.lit(0.0)).otherwise(double)
    return key


def hashed_type(data_type: DataType) -> str:
    """The type of `hashable`, as Spark's `simpleString`.

    Args:
        data_type: Type of a key.

    Returns:
        "bigint" for all integers, "double" for float too.
    """
    if isinstance(data_type, IntegralType):
        return "bigint"
    return "double" if isinstance(data_type, FloatType | DoubleType) else data_type.simpleString()
