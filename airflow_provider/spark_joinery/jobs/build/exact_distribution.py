"""The skew distribution of a relation: rows per key, and exact quantiles of the order column for hot keys.

Two passes over the key and order columns. What grows with the data stays in Spark, which spills it; the driver only
sees a few totals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType

from spark_joinery.errors import JoineryError
from spark_joinery.metadata import DistributionSpec, HotKeys

# A window over fewer rows takes a core about a second at most: a split would cost more than it saves, and small
# relations have no hot keys at all.
DEFAULT_MIN_ROWS = 100_000
# A key holds up a job of C cores once it has more than 1/C of all rows. One in a hundred is where that starts on
# clusters of the usual size, and it limits a relation to a hundred hot keys.
DEFAULT_MIN_SHARE = 0.01

# Above this many hot keys the second pass shuffles the relation instead of shipping the keys to every executor.
_BROADCAST_KEYS = 100_000

RESULT_COLUMNS = ("row_count", "is_hot", "quantiles")


class ColumnMissingError(JoineryError):
    """A specification names a column that the relation does not have."""


class ColumnUnusableError(JoineryError):
    """A column's name or type does not allow a distribution."""


@dataclass(frozen=True)
class Distribution:
    """A computed distribution.

    Attributes:
        table: One row per key: the keys with their own names and types, `row_count BIGINT`, `is_hot BOOLEAN`, and
            `quantiles`, an array of the order column's type, NULL unless hot.
        rows: Rows of the relation.
        keys: Distinct keys; NULL is one.
        hot_keys: Keys that are hot.
    """

    table: DataFrame
    rows: int
    keys: int
    hot_keys: int


@contextmanager
def skew_distribution(
    frame: DataFrame, spec: DistributionSpec, relation: str = "the relation"
) -> Iterator[Distribution]:
    """Compute a distribution.

    The boundaries of a key with N values that are not NULL are, for i = 1 ... quantiles - 1, the smallest value that at
    least i/quantiles of the N do not exceed, as in SQL's `percentile_disc`. Equal boundaries collapse into one, so
    there may be fewer. Order and equality are Spark's: NaN is the greatest number.

    Args:
        frame: The relation.
        spec: What to compute.
        relation: What to call the relation in errors.

    Yields:
        The distribution, valid inside the `with` block, as it reads cached intermediate results.

    Raises:
        ColumnMissingError: If the relation lacks a column.
        ColumnUnusableError: If Spark cannot group by a key, order by the order column, or a name is taken.

    Example:
        >>> with skew_distribution(spark.table("raw.flights"), spec) as distribution:
        ...     distribution.table.orderBy("row_count", ascending=False).show()
    """
    names = _resolve(frame, [*spec.partition_by, spec.order_by], relation)
    _check_names(names[:-1], relation)
    keys = [f"key{i}" for i in range(len(spec.partition_by))]
    source = frame.select(*(_column(name).alias(alias) for name, alias in zip(names, [*keys, "value"], strict=True)))
    _check_types(source, names, relation)

    counts = source.groupBy(*keys).agg(F.count(F.lit(1)).alias("row_count")).persist()
    quantiles = None
    try:
        totals = counts.agg(F.coalesce(F.sum("row_count"), F.lit(0)), F.count(F.lit(1))).first()
        assert totals is not None
        rows, distinct = int(totals[0]), int(totals[1])
        is_hot = F.col("row_count") >= hot_from(rows, spec.hot)
        hot = counts.where(is_hot).select(*keys)
        hot_keys = hot.count()
        array = ArrayType(source.schema["value"].dataType)
        boundaries: Column
        if hot_keys:
            small = F.broadcast(hot) if hot_keys <= _BROADCAST_KEYS else hot
            ranged = _ranged_values(source, small, keys).persist()
            quantiles = ranged
            joined = _join(counts, _boundaries(ranged, keys, spec.quantiles), keys, "left")
            # a hot key all of whose order values are NULL has no boundaries: one part
            boundaries = F.when(is_hot, F.coalesce("quantiles", F.array().cast(array)))
        else:
            joined, boundaries = counts, F.lit(None).cast(array)
        table = joined.select(
            *(F.col(alias).alias(name) for alias, name in zip(keys, names[:-1], strict=True)),
            "row_count",
            is_hot.alias("is_hot"),
            boundaries.alias("quantiles"),
        )
        yield Distribution(table, rows, distinct, hot_keys)
    finally:
        counts.unpersist()
        if quantiles is not None:
            quantiles.unpersist()


def hot_from(rows: int, hot: HotKeys | None) -> int:
    """Tell from how many rows on a key is hot.

    Args:
        rows: Rows of the relation.
        hot: The limits, all of which a hot key passes; by default `DEFAULT_MIN_ROWS` and `DEFAULT_MIN_SHARE`.

    Returns:
        A number of rows.

    Example:
        >>> hot_from(336_776, None)
        100000
        >>> hot_from(1_000, HotKeys(min_share=0.1))
        100
    """
    limits = hot or HotKeys(min_rows=DEFAULT_MIN_ROWS, min_share=DEFAULT_MIN_SHARE)
    # Fraction, as 0.07 * 100 is more than 7 in floating point
    share = math.ceil(Fraction(str(limits.min_share or 0)) * rows)
    return max(limits.min_rows or 1, share)


def _ranged_values(source: DataFrame, hot: DataFrame, keys: list[str]) -> DataFrame:
    """Count each (key, value) of the hot keys, in chunks that follow each other in order.

    A window over a whole key would put its rows into one task: the very skew that is to be found. Chunks cut by range
    have about the same size, however the rows spread over the keys.
    """
    values = _join(source, hot, keys, "left_semi").where(F.col("value").isNotNull())
    counted = values.groupBy(*keys, "value").agg(F.count(F.lit(1)).alias("n"))
    return counted.repartitionByRange(*keys, "value").withColumn("chunk", F.spark_partition_id())


def _boundaries(ranged: DataFrame, keys: list[str], parts: int) -> DataFrame:
    """Find the values at ranks ceil(i * N / parts) of each key: `keys`, `quantiles`."""
    chunk_sizes = ranged.groupBy(*keys, "chunk").agg(F.sum("n").alias("n"))
    of_key = Window.partitionBy(*keys)
    earlier = of_key.orderBy("chunk").rowsBetween(Window.unboundedPreceding, -1)
    chunks = chunk_sizes.select(
        *keys,
        "chunk",
        F.coalesce(F.sum("n").over(earlier), F.lit(0)).alias("before"),
        F.sum("n").over(of_key).alias("total"),
    )
    in_chunk = Window.partitionBy(*keys, "chunk").orderBy("value").rowsBetween(Window.unboundedPreceding, 0)
    upper = F.col("before") + F.col("in_chunk")
    return (
        _join(ranged.withColumn("in_chunk", F.sum("n").over(in_chunk)), chunks, [*keys, "chunk"], "inner")
        # a value holds the ranks (upper - n, upper]; is the rank of a boundary among them?
        .where(_boundaries_up_to(upper, parts) > _boundaries_up_to(upper - F.col("n"), parts))
        .groupBy(*keys)
        .agg(F.sort_array(F.collect_list("value")).alias("quantiles"))
    )


def _boundaries_up_to(rank: Column, parts: int) -> Column:
    """How many of the ranks ceil(i * total / parts), 0 < i < parts, are at most `rank`."""
    return F.least(F.call_function("div", rank * parts, F.col("total")), F.lit(parts - 1))


def _join(left: DataFrame, right: DataFrame, on: list[str], how: str) -> DataFrame:
    """Join on columns of the same names, where NULL equals NULL."""
    renamed = right.withColumnsRenamed({name: f"right_{name}" for name in on})
    condition = reduce(and_, (F.col(name).eqNullSafe(F.col(f"right_{name}")) for name in on))
    return left.join(renamed, condition, how).drop(*(f"right_{name}" for name in on))


def _resolve(frame: DataFrame, wanted: list[str], relation: str) -> list[str]:
    """Find columns as the session does, with or without regard to case; return the relation's own spelling."""
    spark = frame.sparkSession
    fold = str if spark.conf.get("spark.sql.caseSensitive") == "true" else str.lower
    there = {fold(name): name for name in frame.columns}
    missing = [name for name in wanted if fold(name) not in there]
    if missing:
        columns = ", ".join(f"'{name}'" for name in missing)
        raise ColumnMissingError(f"{relation} has no column {columns}. Its columns are: {', '.join(frame.columns)}.")
    return [there[fold(name)] for name in wanted]


def _check_names(keys: list[str], relation: str) -> None:
    taken = [name for name in keys if name.lower() in RESULT_COLUMNS]
    if taken:
        raise ColumnUnusableError(
            f"{relation}: the partition key '{taken[0]}' has the name of a column of the distribution itself "
            f"({', '.join(RESULT_COLUMNS)}). Declare the distribution on a view that renames it."
        )


def _check_types(source: DataFrame, names: list[str], relation: str) -> None:
    """Ask Spark's analyzer, which knows for sure what can be grouped and ordered."""
    from pyspark.errors import AnalysisException

    for field, name in zip(source.schema.fields, names, strict=True):
        use = "ordered" if field.name == "value" else "grouped"
        try:
            (source.groupBy if use == "grouped" else source.orderBy)(field.name)
            source.groupBy(field.name).count().schema  # noqa: B018
        except AnalysisException as error:
            type_name = field.dataType.simpleString()
            raise ColumnUnusableError(f"{relation}: column '{name}' of type {type_name} cannot be {use}.") from error


def _column(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")
