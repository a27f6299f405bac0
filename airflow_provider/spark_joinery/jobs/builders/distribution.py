"""The skew distribution of a relation: rows per key, and quantiles of the order column for hot keys."""

from __future__ import annotations

import logging

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_joinery.jobs.builders.built import Built, ColumnUnusableError, DriftError, column, resolve
from spark_joinery.jobs.builders.exact_distribution import exact_distribution
from spark_joinery.jobs.builders.hashing import is_hashable
from spark_joinery.jobs.builders.hot_keys import hot_from
from spark_joinery.jobs.builders.order_sketch import OrderSketch
from spark_joinery.jobs.builders.sketched_distribution import TooManyHotKeysError, sketched_distribution
from spark_joinery.metadata import DistributionSpec
from spark_joinery.store import ArtifactVersion, FileSystem, PendingVersion

RESULT_COLUMNS = ("row_count", "is_hot", "quantiles", "null_count", "rank_error")
_EXACT = "exact quantiles cannot be added to"

log = logging.getLogger(__name__)


def build_distribution(
    frame: DataFrame,
    spec: DistributionSpec,
    relation: str,
    target: PendingVersion,
    filesystem: FileSystem,
    base: ArtifactVersion | None = None,
) -> Built:
    """Write a distribution.

    The table has one row per key. It has all keys if there are up to 10,000 of them, or if the quantiles are exact.
    Otherwise it leaves out keys with less than about a quarter of a hot key's rows. Its columns are:

    - the keys, with their own names and types
    - `row_count BIGINT` and `is_hot BOOLEAN`, both exact
    - `quantiles`, an array of the order column's type; NULL unless the key is hot
    - `null_count BIGINT`, the number of rows with a NULL order value
    - `rank_error DOUBLE`, the maximum error of a quantile's rank, as a share of the key's rows

    Since Spark 4.1, quantiles of numbers, dates and timestamps come from sketches and have an error. Quantiles of other
    types, or of thousands of hot keys, are exact, which takes a sort.

    Args:
        frame: The relation; with `base`, its new rows.
        spec: The distribution to compute.
        relation: Name of the relation in errors.
        target: The version to write.
        filesystem: File system of `target`.
        base: A version to add the rows to.

    Returns:
        Counts, and their errors.

    Raises:
        ColumnMissingError: If the relation lacks a column.
        ColumnUnusableError: If Spark cannot group by a key, order by the order column, or a name is taken.
        DriftError: If rows cannot be added to `base`.

    Example:
        >>> spec = DistributionSpec(partition_by=["carrier"], order_by="departs_at")
        >>> build_distribution(spark.table("raw.flights"), spec, "raw.flights", pending, store.filesystem).hot_keys
        4
    """
    names = resolve(frame, [*spec.partition_by, spec.order_by], relation)
    _check_names(names[:-1], relation)
    keys = [f"key{i}" for i in range(len(spec.partition_by))]
    source = frame.select(*(column(name).alias(alias) for name, alias in zip(names, [*keys, "value"], strict=True)))
    _check_types(source, names, relation)
    if base and not base.has_state:
        raise DriftError(_EXACT)
    named = dict(zip(keys, names[:-1], strict=True))
    sketch = OrderSketch.of(source.schema["value"].dataType, spec.quantiles)
    if sketch is not None and all(is_hashable(source.schema[key].dataType) for key in keys):
        try:
            return sketched_distribution(source, named, spec, sketch, target, base)
        except TooManyHotKeysError as reason:
            log.info("%s: exact quantiles, as %s", relation, reason)
            filesystem.delete(target.state_path)
    if base:
        raise DriftError(_EXACT)
    with exact_distribution(source, keys, spec) as distribution:
        # renamed all at once: one after another, a key column named key0 would clash with the alias key0
        renamed = (F.col(name).alias(named.get(name, name)) for name in distribution.table.columns)
        distribution.table.select(*renamed).write.parquet(target.data_path)
    return Built(
        distribution.rows,
        keys=distribution.keys,
        hot_keys=distribution.hot_keys,
        details={
            "keys_relative_error": 0.0,
            "counts_all_keys": True,
            "hot_from": hot_from(distribution.rows, spec.hot),
            "rank_error": 0.0,
            "rank_confidence": 1.0,
            "null_keys": distribution.null_keys,
            "order_nulls": distribution.order_nulls,
        },
    )


def _check_names(keys: list[str], relation: str) -> None:
    taken = [name for name in keys if name.lower() in RESULT_COLUMNS]
    if taken:
        raise ColumnUnusableError(
            f"{relation}: the partition key '{taken[0]}' has the name of a column of the distribution itself "
            f"({', '.join(RESULT_COLUMNS)}). Rename the column in the table."
        )


def _check_types(source: DataFrame, names: list[str], relation: str) -> None:
    """Ask Spark's analyzer, which knows which types can be grouped and ordered."""
    for field, name in zip(source.schema.fields, names, strict=True):
        use = "ordered" if field.name == "value" else "grouped"
        try:
            grouped = source.groupBy(field.name).agg(F.count(F.lit(1)))
            (grouped if use == "grouped" else source.orderBy(field.name)).schema  # noqa: B018
            grouped.schema  # noqa: B018
        except AnalysisException as error:
            type_name = field.dataType.simpleString()
            raise ColumnUnusableError(f"{relation}: column '{name}' of type {type_name} cannot be {use}.") from error
