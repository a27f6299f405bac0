"""Quantiles of an order column by KLL sketches, as Spark has them for bigint and double.

Other types take part as numbers in the same order; types without such a number have no sketch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    TimestampNTZType,
    TimestampType,
)

_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


@dataclass(frozen=True)
class OrderSketch:
    """How to sketch a column of one type.

    Attributes:
        number: "bigint" or "double".
        k: Size of the sketches; they take some 3 * 8 * k bytes.
        to_number: Turns a value into a number.
        to_value: Turns a number back.
    """

    number: str
    k: int
    to_number: Callable[[Column], Column]
    to_value: Callable[[Column], Column]

    @classmethod
    def of(cls, data_type: DataType, quantiles: int) -> OrderSketch | None:
        """Choose the sketch for a type.

        Args:
            data_type: Type of the order column.
            quantiles: Number of parts; the error stays far below the size of one.

        Returns:
            The sketch; None if the type has none, or this Spark has no KLL sketches (before 4.1).
        """
        if not hasattr(F, "kll_sketch_agg_bigint"):
            return None
        k = min(65_535, max(2048, 32 * quantiles))
        back_to = data_type.simpleString()

        def cast_back(number: Column) -> Column:
            return number.cast(back_to)

        match data_type:
            case IntegralType():
                return cls("bigint", k, lambda value: value.cast("bigint"), cast_back)
            case FloatType() | DoubleType():
                return cls("double", k, lambda value: value.cast("double"), cast_back)
            case DateType():
                return cls(
                    "bigint", k, lambda v: F.unix_date(v).cast("bigint"), lambda n: F.date_from_unix_date(n.cast("int"))
                )
            case TimestampType():
                return cls("bigint", k, F.unix_micros, F.timestamp_micros)
            case TimestampNTZType():
                return cls("bigint", k, _micros, _timestamp_ntz)
            case DecimalType() if data_type.precision <= 18:
                scale = data_type.scale
                # exact: a decimal(19, 0) times a decimal(scale, scale)
                unit = F.lit(f"1e-{scale}").cast(f"decimal({max(scale, 1)},{scale})")
                unscaled = F.lit(10**scale).cast("decimal(19,0)")
                return cls(
                    "bigint",
                    k,
                    lambda value: (value * unscaled).cast("bigint"),
                    lambda number: (
                        (number.cast("decimal(19,0)") * unit).cast(back_to) if scale else number.cast(back_to)
                    ),
                )
        return None

    @property
    def rank_error(self) -> float:
        """The maximum error of a boundary's rank, as a share of the key's rows, with 99 % confidence.

        The constants are those of `KllHelper.getNormalizedRankError` in Apache DataSketches.
        """
        return float(2.296 / self.k**0.9723)

    def aggregate(self, value: Column) -> Column:
        """Sketch a column, NULLs left out."""
        return F.call_function(f"kll_sketch_agg_{self.number}", self.to_number(value), F.lit(self.k))

    def size(self, sketch: Column) -> Column:
        """How many values a sketch has seen."""
        return F.call_function(f"kll_sketch_get_n_{self.number}", sketch)

    def merge(self, one: Column, other: Column) -> Column:
        """Combine two sketches. One or both may be NULL."""
        both = F.call_function(f"kll_sketch_merge_{self.number}", one, other)
        return F.when(one.isNotNull() & other.isNotNull(), both).otherwise(F.coalesce(one, other))

    def boundaries(self, sketch: Column, parts: int) -> Column:
        """The values at the ranks 1/parts, 2/parts, ...; equal ones once. An empty array for an empty sketch."""
        ranks = F.array(*(F.lit(i / parts) for i in range(1, parts)))
        found = F.call_function(f"kll_sketch_get_quantile_{self.number}", F.when(self.size(sketch) > 0, sketch), ranks)
        return F.coalesce(F.array_distinct(F.transform(found, self.to_value)), F.array())


def _micros(value: Column) -> Column:
    """Microseconds since 1970 without a detour through a time zone."""
    since = (value - F.expr(_EPOCH)).cast("interval second").cast("decimal(19,6)")
    return (since * F.lit(1_000_000)).cast("bigint")


def _timestamp_ntz(micros: Column) -> Column:
    seconds = (micros.cast("decimal(19,0)") * F.lit("0.000001").cast("decimal(7,6)")).cast("decimal(18,6)")
    return F.expr(_EPOCH) + F.make_dt_interval(F.lit(0), F.lit(0), F.lit(0), seconds)
