"""A skew distribution without any error, for data that sketches cannot hold: strings, or thousands of hot keys.

It takes two passes over the key and order columns; the second one sorts. Data that grows with the relation stays in
Spark, which can spill it. The driver only sees a few totals.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType

from spark_joinery.jobs.builders.hot_keys import hot_from
from spark_joinery.metadata import DistributionSpec

# Above this many hot keys the second pass shuffles the relation instead of shipping the keys to every executor.
_BROADCAST_KEYS = 100_000


@dataclass(frozen=True)
class Distribution:
    """A computed distribution.

    Attributes:
        table: One row per key: the keys, and the columns that `build_distribution` describes.
        rows: Rows of the relation.
        keys: Distinct keys; NULL is one.
        hot_keys: Keys that are hot.
        null_keys: Rows with a NULL in the key.
        order_nulls: Rows with a NULL order value.
    """

    table: DataFrame
    rows: int
    keys: int
    hot_keys: int
    null_keys: int
    order_nulls: int


@contextmanager
def exact_distribution(source: DataFrame, keys: list[str], spec: DistributionSpec) -> Iterator[Distribution]:
    """Compute a distribution.

    The boundaries of a key are those of SQL's `percentile_disc`. Let N be the number of its values that are not NULL.
    For each i = 1 ... quantiles - 1, the boundary is the smallest value that at least i/quantiles of the N do not
    exceed. Equal boundaries collapse into one, so there may be fewer. Order and equality are Spark's: NaN is the
    greatest number.

    Args:
        source: The keys, and the order column as `value`.
        keys: Names of the key columns.
        spec: The distribution to compute.

    Yields:
        The distribution, valid inside the `with` block, as it reads cached intermediate results.

    Example:
        >>> with exact_distribution(source, ["key0"], spec) as distribution:
        ...     distribution.table.orderBy("row_count", ascending=False).show()
    """
    counted = (F.count(F.lit(1)).alias("row_count"), F.count(F.when(F.col("value").isNull(), 1)).alias("null_count"))
    counts = source.groupBy(*keys).agg(*counted).persist()
    quantiles = None
    try:
        any_null = reduce(or_, (F.col(key).isNull() for key in keys))
        totals = counts.agg(
            F.sum("row_count"), F.count(F.lit(1)), F.sum(F.when(any_null, F.col("row_count"))), F.sum("null_count")
        ).collect()[0]
        rows, distinct, null_keys, order_nulls = (int(total or 0) for total in totals)
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
            # a hot key whose order values are all NULL has no boundaries, and is one part
            boundaries = F.when(is_hot, F.coalesce("quantiles", F.array().cast(array)))
        else:
            joined, boundaries = counts, F.lit(None).cast(array)
        table = joined.select(
            *keys,
            "row_count",
            is_hot.alias("is_hot"),
            boundaries.alias("quantiles"),
            "null_count",
            F.when(is_hot, F.lit(0.0)).alias("rank_error"),
        )
        yield Distribution(table, rows, distinct, hot_keys, null_keys, order_nulls)
    finally:
        counts.unpersist()
        if quantiles is not None:
            quantiles.unpersist()


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
    """The number of ranks ceil(i * total / parts), 0 < i < parts, that are at most `rank`."""
    return F.least(F.call_function("div", rank * parts, F.col("total")), F.lit(parts - 1))


def _join(left: DataFrame, right: DataFrame, on: list[str], how: str) -> DataFrame:
    """Join on columns of the same names, where NULL equals NULL."""
    renamed = right.withColumnsRenamed({name: f"right_{name}" for name in on})
    condition = reduce(and_, (F.col(name).eqNullSafe(F.col(f"right_{name}")) for name in on))
    return left.join(renamed, condition, how).drop(*(f"right_{name}" for name in on))
