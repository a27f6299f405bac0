"""The bloom filter of a relation's keys: a split block bloom filter, computed by Spark's own aggregation.

One row of the artifact is one block of 256 bits, four longs. A key sets one bit in each of the block's eight 32-bit
words, so that a probe touches one cache line (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom
Filters, 2007; Parquet's filters have the same shape). All bits come straight from the key's xxhash64:

    block = ((hash >>> 40) * blocks) >>> 24        bit of word j = (hash >>> 5j) & 31

A block is the `bit_or` of its keys, and the union of two filters is the `bit_or` of their blocks. Spark can spill
everything that grows with the data, and only Parquet is written or read.
"""

from __future__ import annotations

import math
from functools import reduce
from operator import add

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_joinery.cause import one_line
from spark_joinery.jobs.builders.built import Built, ColumnUnusableError, DriftError, column, resolve
from spark_joinery.jobs.builders.distinct import RELATIVE_ERROR, as_field, distinct_sketch
from spark_joinery.jobs.builders.hashing import hashable, hashed_type, is_hashable
from spark_joinery.jobs.builders.parquet import read_whole, write_counted
from spark_joinery.jobs.builders.predicate import changes_by_itself
from spark_joinery.metadata import BloomFilterSpec
from spark_joinery.store import ArtifactVersion, PendingVersion

WORDS = ("w0", "w1", "w2", "w3")
_MAX_BLOCKS = 1 << 24
# The minimum, 16 KB, costs nothing to keep and to send. Filters with few keys then have hardly any false positives.
_MIN_BLOCKS = 512
# Room for tomorrow's keys: a filter with more keys than it was sized for has more false positives.
_GROWTH = 1.25
# A filter that grew is built again once it has more than this many times the false positives that were asked for.
_MAX_FPP_DRIFT = 1.5


def build_bloom_filter(
    frame: DataFrame, spec: BloomFilterSpec, relation: str, target: PendingVersion, base: ArtifactVersion | None = None
) -> Built:
    """Write a bloom filter.

    Args:
        frame: The relation; with `base`, its new rows.
        spec: Keys, predicate and false-positive probability.
        relation: Name of the relation in errors.
        target: The version to write.
        base: A version to add the rows to.

    Returns:
        Counts, and the fields that a reader needs: `blocks`, `hash`, `key_types`, `capacity`, `expected_fpp`. A reader
        proves with `filled_blocks` and `set_bits` that it has the whole filter.

    Raises:
        ColumnMissingError: If the relation lacks a column.
        ColumnUnusableError: If a key cannot be hashed, or the predicate is not one.
        DriftError: If `base` would hold too many keys, or has lost some.
        LostRowsError: If some of the written rows cannot be read.

    Example:
        >>> build_bloom_filter(spark.table("raw.planes"), BloomFilterSpec(keys=["tailnum"]), "raw.planes", pending).keys
        3322
    """
    spark = frame.sparkSession
    keys = resolve(frame, spec.keys, relation)
    types = [frame.schema[key].dataType for key in keys]
    for key, data_type in zip(keys, types, strict=True):
        if not is_hashable(data_type):
            raise ColumnUnusableError(
                f"{relation}: the key '{key}' of type {data_type.simpleString()} cannot be in a bloom filter, as equal "
                "values of this type may differ in their bytes."
            )
    hashed = [hashable(column(key), data_type) for key, data_type in zip(keys, types, strict=True)]
    not_null = F.lit(True)
    for key in keys:
        not_null = not_null & column(key).isNotNull()
    before = base.description if base else None
    # NULL for rows with a NULL in the key, or outside the predicate; the sketch leaves them out
    h = F.when(not_null, F.xxhash64(*hashed))
    if spec.where:
        h = F.when(_predicate(frame, spec.where, relation), h)
    hashes = frame.select(h.alias("h"))
    totals = hashes.agg(F.count(F.lit(1)).alias("rows"), distinct_sketch(F.col("h"), before).alias("distinct"))
    found = totals.withColumn("keys", F.hll_sketch_estimate("distinct")).collect()[0]
    rows, estimate = int(found["rows"]) + (before["rows"] if before else 0), int(found["keys"])

    if before:
        blocks, capacity = int(before["blocks"]), int(before["capacity"])
        expected = expected_fpp(estimate / blocks)
        if expected > spec.fpp * _MAX_FPP_DRIFT:
            raise DriftError(f"about {estimate:,} keys are in a filter made for {capacity:,}")
    else:
        capacity = max(1, math.ceil(estimate * (1 + 3 * RELATIVE_ERROR) * _GROWTH))
        blocks = max(_MIN_BLOCKS, math.ceil(capacity / keys_per_block(spec.fpp)))
        capacity = max(capacity, math.floor(blocks * keys_per_block(spec.fpp)))
        if blocks > _MAX_BLOCKS:
            raise ColumnUnusableError(
                f"{relation}: about {estimate:,} distinct keys need a bloom filter of {blocks * 32:,} bytes, more than "
                f"the {_MAX_BLOCKS * 32:,} there can be. Raise fpp, or filter with `where`."
            )
        expected = expected_fpp(estimate / blocks)
    filled = _blocks(hashes.where("h IS NOT NULL"), blocks)
    if base:
        former = read_whole(spark, base.data_path)
        filled = filled.unionByName(former).groupBy("block").agg(*(F.bit_or(word).alias(word) for word in WORDS))
    # sorted, so that a reader fills its words from left to right
    ordered = filled.repartitionByRange(max(1, blocks // 1_000_000), "block").sortWithinPartitions("block")
    set_bits = reduce(add, (F.bit_count(word) for word in WORDS))
    proof = write_counted(
        ordered, target.data_path, {"filled_blocks": F.count(F.lit(1)), "set_bits": F.sum(set_bits.cast("bigint"))}
    )
    if before and any(proof[name] < before[name] for name in proof):
        raise DriftError("the former version does not hold all that it was built with")
    return Built(
        rows,
        keys=estimate,
        details={
            "keys": estimate,
            "keys_relative_error": RELATIVE_ERROR,
            **as_field(found["distinct"]),
            "blocks": blocks,
            **proof,
            "bytes": blocks * 32,
            "fpp": spec.fpp,
            "expected_fpp": expected,
            "capacity": capacity,
            "hash": "xxhash64",
            "key_types": [hashed_type(data_type) for data_type in types],
        },
    )


def expected_fpp(keys_per_block: float) -> float:
    """The probability that a key that is not in a filter passes it.

    The keys of a block follow Poisson's distribution. Each of the eight bits is set by i keys with the probability
    1 - (31/32)^i.

    Args:
        keys_per_block: Average number of keys in a block.

    Returns:
        A probability.

    Example:
        >>> round(expected_fpp(25), 3)
        0.01
    """
    spread = 12 * math.sqrt(keys_per_block) + 12
    counts = range(max(0, int(keys_per_block - spread)), int(keys_per_block + spread) + 1)
    log_mean = math.log(keys_per_block) if keys_per_block else 0.0
    return sum(
        math.exp(i * log_mean - keys_per_block - math.lgamma(i + 1)) * (1 - (31 / 32) ** i) ** 8
        for i in counts
        if keys_per_block or not i
    )


def keys_per_block(fpp: float) -> float:
    """The largest average number of keys in a block with which a filter keeps its false-positive probability.

    Args:
        fpp: False-positive probability.

    Returns:
        A number above 0, exact to a thousandth.
    """
    low, high = 0.001, 1000.0
    while high - low > 0.001 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if expected_fpp(middle) <= fpp else (low, middle)
    return low


def _blocks(hashes: DataFrame, blocks: int) -> DataFrame:
    """Combine the keys of each block."""
    block = F.shiftrightunsigned(F.shiftrightunsigned("h", 40) * F.lit(blocks), 24).cast("int")
    return hashes.groupBy(block.alias("block")).agg(*(F.bit_or(_word(i)).alias(name) for i, name in enumerate(WORDS)))


def _word(i: int) -> Column:
    """The two bits that a key sets in a block's long: one in its lower half, one in its upper half."""
    lower, upper = f"shiftrightunsigned(h, {10 * i}) & 31", f"shiftrightunsigned(h, {10 * i + 5}) & 31"
    return F.expr(f"shiftleft(1L, cast({lower} AS INT)) | shiftleft(1L, 32 + cast({upper} AS INT))")


def _predicate(frame: DataFrame, where: str, relation: str) -> Column:
    unstable = changes_by_itself(where, {field.name: field.dataType.simpleString() for field in frame.schema})
    if unstable:
        raise ColumnUnusableError(
            f"{relation}: `where: {where}` gives another answer whenever it is asked ({unstable}); expected a "
            "predicate on the row alone."
        )
    try:
        frame.where(where).schema  # noqa: B018
    except AnalysisException as error:
        raise ColumnUnusableError(f"{relation}: `where: {where}` is no predicate on it: {one_line(error)}") from error
    if problem := _problem_with_rows_alone(frame, where):
        raise ColumnUnusableError(f"{relation}: `where: {where}` {problem}; expected a predicate on the row alone.")
    return F.expr(where)


def _problem_with_rows_alone(frame: DataFrame, where: str) -> str | None:
    """The reason why an accepted predicate reads more than the row, or is incomplete; None if there is none.

    Asks Spark's analyzer, also over Spark Connect. It allows no alias in parentheses, and no subquery in a lambda.
    """
    # with the parenthesis on a line of its own, as the predicate may end in a comment
    try:
        frame.where(f"({where}\n)").schema  # noqa: B018
    except ParseException:
        return "is not complete: Spark takes its end for a name, as after AS"
    try:
        frame.where(f"exists(array(1), __joinery_row -> ({where}\n))").schema  # noqa: B018
    except AnalysisException as error:
        # other things that a lambda may not hold, such as a Python function, do no harm here
        if error.getCondition() == "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.HIGHER_ORDER_FUNCTION":
            return "asks another relation, by a subquery, which may change while this one stays"
    return None
