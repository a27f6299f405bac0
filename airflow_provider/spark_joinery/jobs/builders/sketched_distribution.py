"""A skew distribution in two passes that shuffle next to nothing. Later rows can be added to it.

1. The first pass makes frequent-items and HLL sketches of the keys' hashes (Apache DataSketches, in Spark since 4.1).
   They estimate how many keys there are, and which may be hot. The frequent-items sketch overlooks no key with more
   rows than twice its error.
2. The second pass counts exactly: every key if there are few, otherwise only keys that may be hot. It also makes a KLL
   sketch of the order column for each key that may be hot.

The counts and sketches are stored as the state, one row of Parquet per key. The table is a function of the state, so
the state and new rows together give the table of all rows. If a key has become hot and its earlier rows were not
sketched, the build raises a `DriftError`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, FloatType

from spark_joinery.jobs.builders.built import Built, DriftError
from spark_joinery.jobs.builders.distinct import RELATIVE_ERROR, as_field, distinct_sketch
from spark_joinery.jobs.builders.hashing import hashable
from spark_joinery.jobs.builders.hot_keys import hot_from
from spark_joinery.jobs.builders.order_sketch import OrderSketch
from spark_joinery.jobs.builders.parquet import read_whole
from spark_joinery.jobs.held_settings import held_settings
from spark_joinery.metadata import DistributionSpec
from spark_joinery.store import ArtifactVersion, PendingVersion

# Up to this many keys, all are counted; beyond, only keys that may be hot.
_ALL_KEYS = 10_000
# A version sketches at most twice this many keys, which bounds the memory of a task. New rows add at most this many.
_SKETCHED_KEYS = 1_000
# Items that the frequent-items sketch tracks: three quarters of its hash map of 2^14, on which its error depends.
_TRACKED = 12_288
_FREQUENT_ITEMS_ERROR = 3.5 / (1 << 14)
# Keys with at least this share of a hot key's rows are watched, too: they may be hot tomorrow.
_WATCHED = 0.25
_STATE = ("h", "row_count", "null_count", "sketch")
# Raises the number of keys in a task, 128 by default, beyond which Spark sorts all rows to aggregate sketches.
_MANY_GROUPS = {"spark.sql.objectHashAggregate.sortBased.fallbackThreshold": str(2 * _ALL_KEYS)}


class TooManyHotKeysError(Exception):
    """Sketches cannot be used: too many keys may be hot, or the order column holds NaN."""


@dataclass(frozen=True)
class _Totals:
    """Results of the first pass.

    Attributes:
        rows: Rows.
        keys: Estimated number of distinct keys, including those of the base.
        distinct: The HLL sketch of these keys.
        null_keys: Rows with a NULL in the key.
        order_nulls: Rows with a NULL order value.
        nans: Rows with a NaN order value.
        frequent: From the hash of a key to its estimated rows. It has all keys with at least `frequent_from` rows.
        frequent_from: Twice the error of the estimates.
    """

    rows: int
    keys: int
    distinct: bytes
    null_keys: int
    order_nulls: int
    nans: int
    frequent: dict[int, int]
    frequent_from: int


def sketched_distribution(
    source: DataFrame,
    names: dict[str, str],
    spec: DistributionSpec,
    sketch: OrderSketch,
    target: PendingVersion,
    base: ArtifactVersion | None,
) -> Built:
    """Write a distribution: its state, then the table that follows from it.

    Args:
        source: The keys, and the order column as `value`; with `base`, its new rows.
        names: From the names of the key columns to their names in the table.
        spec: The distribution to compute.
        sketch: The sketch for the type of the order column.
        target: The version to write.
        base: A version to add the rows to.

    Returns:
        Counts, and their errors.

    Raises:
        TooManyHotKeysError: If too many keys may be hot, or the order column holds NaN, which KLL leaves out.
        DriftError: If `base` does not know enough about a key.
    """
    spark, keys = source.sparkSession, list(names)
    with held_settings(spark, _MANY_GROUPS):
        totals = _first_pass(source, keys, base)
        if totals.nans:
            raise TooManyHotKeysError("the order column holds NaN")
        before = dict(base.description) if base else {}
        rows = totals.rows + before.get("rows", 0)
        hot = hot_from(rows, spec.hot)
        counts_all = before.get("counts_all_keys", totals.keys <= _ALL_KEYS)
        if base and counts_all and totals.keys > 1.1 * _ALL_KEYS:
            raise DriftError(f"there are about {totals.keys:,} keys, too many to count each")
        watched_from = max(1, math.ceil(hot * _WATCHED))
        # keys with fewer rows may be missing from the state
        missing_below = 1 if counts_all else max(watched_from, totals.frequent_from)
        if not base and not counts_all and missing_below > hot:
            raise TooManyHotKeysError(f"a key of {hot:,} rows is hot, and there are about {totals.keys:,} keys")

        frequent_from = 1 if base else max(1, watched_from - totals.frequent_from)
        watched = [key for key, count in totals.frequent.items() if count >= frequent_from]
        if base:
            watched = _watched_before(spark, base) + watched[:_SKETCHED_KEYS]
        watched = list(dict.fromkeys(watched))
        if len(watched) > 2 * _SKETCHED_KEYS:
            raise TooManyHotKeysError(f"{len(watched):,} keys may be hot")
        counted = _second_pass(source, keys, sketch, watched, counts_all)
        if base:
            merged = _merged(read_whole(spark, base.state_path), counted, keys, sketch).persist()
            try:
                if not counts_all:
                    missing_below = _missing_below(merged, before, totals, watched, hot)
                _write_state(merged if counts_all else merged.where(~F.col("is_newcomer")), keys, target)
            finally:
                merged.unpersist()
        else:
            _write_state(counted if counts_all else counted.where(F.col("row_count") >= missing_below), keys, target)
    state = read_whole(spark, target.state_path)
    return _write_table(state, names, spec, sketch, target, hot, rows, counts_all, missing_below, totals, before)


def _first_pass(source: DataFrame, keys: list[str], base: ArtifactVersion | None) -> _Totals:
    """Count and sketch."""
    types = source.schema
    nan = F.isnan("value") if isinstance(types["value"].dataType, FloatType | DoubleType) else F.lit(False)
    any_null = F.lit(False)
    for key in keys:
        any_null = any_null | F.col(key).isNull()
    found = source.select(_hash(source, keys).alias("h"), any_null.alias("null_key"), "value").agg(
        F.count(F.lit(1)).alias("rows"),
        F.count(F.when(F.col("null_key"), 1)).alias("null_keys"),
        F.count(F.when(F.col("value").isNull(), 1)).alias("order_nulls"),
        F.count(F.when(nan, 1)).alias("nans"),
        distinct_sketch(F.col("h"), base.description if base else None).alias("distinct"),
        F.call_function("approx_top_k", F.col("h"), F.lit(_TRACKED), F.lit(_TRACKED)).alias("frequent"),
    )
    row = found.withColumn("keys", F.hll_sketch_estimate("distinct")).collect()[0]
    return _Totals(
        rows=row["rows"],
        keys=row["keys"],
        distinct=bytes(row["distinct"]),
        null_keys=row["null_keys"],
        order_nulls=row["order_nulls"],
        nans=row["nans"],
        frequent={item["item"]: item["count"] for item in row["frequent"] or ()},
        frequent_from=math.ceil(2 * _FREQUENT_ITEMS_ERROR * row["rows"]),
    )


def _missing_below(merged: DataFrame, before: dict[str, int], totals: _Totals, watched: list[int], hot: int) -> int:
    """The number of rows from which on no key is missing, after rows were added to a state without small keys.

    A missing key had fewer rows than `before["missing_below"]`. Its new rows were counted, or estimated if there was no
    room to count them, or overlooked if there are at most `totals.frequent_from` of them.
    """
    counted = set(watched)
    uncounted = max((rows for key, rows in totals.frequent.items() if key not in counted), default=0)
    newcomers = merged.where("is_newcomer").agg(F.max("row_count")).collect()[0][0] or 0
    missing_below = int(before["missing_below"] + max(totals.frequent_from, newcomers, uncounted))
    if missing_below > hot:
        raise DriftError(
            f"a key is hot from {hot:,} rows on, and one of up to {missing_below:,} may have been overlooked"
        )
    return missing_below


def _watched_before(spark: SparkSession, base: ArtifactVersion) -> list[int]:
    state = read_whole(spark, base.state_path).where(F.col("sketch").isNotNull())
    return [row["h"] for row in state.select("h").collect()]


def _second_pass(
    source: DataFrame, keys: list[str], sketch: OrderSketch, watched: list[int], counts_all: bool
) -> DataFrame:
    """Count keys exactly, and sketch the order column of watched keys."""
    hashed = source.withColumn("h", _hash(source, keys))
    is_watched = F.col("h").isin(watched) if watched else F.lit(False)
    if not counts_all:
        hashed = hashed.where(is_watched)
    counts = (F.count(F.lit(1)).alias("row_count"), F.count(F.when(F.col("value").isNull(), 1)).alias("null_count"))
    if not watched:
        return hashed.groupBy(*keys, "h").agg(*counts).withColumn("sketch", F.lit(None).cast("binary"))
    # two keys with the same hash are both watched, which does no harm
    value = F.when(is_watched, F.col("value"))
    counted = hashed.groupBy(*keys, "h").agg(*counts, sketch.aggregate(value).alias("all"))
    return counted.withColumn("sketch", F.when(is_watched, F.col("all"))).drop("all")


def _merged(before: DataFrame, new: DataFrame, keys: list[str], sketch: OrderSketch) -> DataFrame:
    """Add counts and sketches of the same keys."""
    both = before.select(*keys, *_STATE).withColumn("new", F.lit(False)).unionByName(new.withColumn("new", F.lit(True)))
    one, other = (F.max(F.when(F.col("new") == is_new, F.col("sketch"))) for is_new in (False, True))
    added = both.groupBy(*keys, "h").agg(
        F.sum("row_count").alias("row_count"),
        F.sum("null_count").alias("null_count"),
        F.min("new").alias("is_newcomer"),
        one.alias("one"),
        other.alias("other"),
    )
    merged = added.withColumn("sketch", sketch.merge(F.col("one"), F.col("other")))
    seen = F.coalesce(sketch.size(F.col("sketch")), F.lit(0)) + F.col("null_count")
    # a sketch that has not seen all values of its key is dropped
    whole = F.when(seen == F.col("row_count"), F.col("sketch"))
    return merged.select(*keys, "h", "row_count", "null_count", whole.alias("sketch"), "is_newcomer")


def _write_state(counted: DataFrame, keys: list[str], target: PendingVersion) -> None:
    counted.select(*keys, *_STATE).coalesce(1).write.parquet(target.state_path)


def _write_table(
    state: DataFrame,
    names: dict[str, str],
    spec: DistributionSpec,
    sketch: OrderSketch,
    target: PendingVersion,
    hot: int,
    rows: int,
    counts_all: bool,
    missing_below: int,
    totals: _Totals,
    before: dict[str, int],
) -> Built:
    """Write the table that follows from the state."""
    is_hot = F.col("row_count") >= hot
    found = state.agg(
        F.count(F.lit(1)), F.count(F.when(is_hot, 1)), F.count(F.when(is_hot & F.col("sketch").isNull(), 1))
    )
    counted, hot_keys, blind = (int(value) for value in found.collect()[0])
    if blind:
        raise DriftError(f"{blind} keys have become hot whose earlier rows were not looked at")
    boundaries = F.when(is_hot, sketch.boundaries(F.col("sketch"), spec.quantiles))
    state.select(
        *(F.col(key).alias(name) for key, name in names.items()),
        "row_count",
        is_hot.alias("is_hot"),
        boundaries.alias("quantiles"),
        "null_count",
        F.when(is_hot, F.lit(sketch.rank_error)).alias("rank_error"),
    ).coalesce(1).write.parquet(target.data_path)
    return Built(
        rows,
        keys=counted if counts_all else totals.keys,
        hot_keys=hot_keys,
        details={
            "keys_relative_error": 0.0 if counts_all else RELATIVE_ERROR,
            **as_field(totals.distinct),
            "counts_all_keys": counts_all,
            "missing_below": missing_below,
            "hot_from": hot,
            "rank_error": sketch.rank_error,
            "rank_confidence": 0.99,
            "null_keys": totals.null_keys + before.get("null_keys", 0),
            "order_nulls": totals.order_nulls + before.get("order_nulls", 0),
        },
    )


def _hash(source: DataFrame, keys: list[str]) -> Column:
    return F.xxhash64(*(hashable(F.col(key), source.schema[key].dataType) for key in keys))
