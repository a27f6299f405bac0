"""The figures of one distribution, from its Parquet files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from spark_joinery.report.model import HEAVIEST, Distribution, HeavyKey

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType


def read_distribution(spark: SparkSession, path: str, description: Mapping[str, Any]) -> Distribution:
    """Read the heaviest keys, and the largest number of rows that one part of any key has.

    A part between two of the `q - 1` boundaries of a key holds a `q`-th of its rows. Equal boundaries are stored once:
    the part that ends there also holds the rows of the missing ones. Rows without an order value are all in one part.

    Args:
        spark: A session.
        path: Folder of the Parquet files.
        description: The content of `version.json`.

    Returns:
        The figures.

    Example:
        >>> read_distribution(spark, version.data_path, version.description).share_before
        0.34
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType

    spec = description["spec"]
    table = spark.read.parquet(path)
    names = table.columns[: len(spec["partition_by"])]
    parts = int(spec["quantiles"])
    array = table.schema["quantiles"].dataType
    assert isinstance(array, ArrayType)

    # the store's first format has no such column
    nulls = F.col("null_count") if "null_count" in table.columns[len(names) :] else F.lit(0)
    of_parts = (F.lit(parts) - F.size("quantiles")) / F.lit(parts)
    largest = F.ceil(nulls + (F.col("row_count") - nulls) * of_parts)
    figures = table.select(
        *(_text(F.col(_quoted(name)), table.schema[name].dataType).alias(f"key{i}") for i, name in enumerate(names)),
        "row_count",
        "is_hot",
        F.transform("quantiles", lambda value: _text(value, array.elementType)).alias("boundaries"),
        F.when(F.col("is_hot"), F.least("row_count", largest)).otherwise(F.col("row_count")).alias("largest_part"),
    )
    totals = figures.agg(F.coalesce(F.max("largest_part"), F.lit(0))).first()
    assert totals is not None
    return Distribution(
        key_columns=tuple(names),
        order_by=str(spec["order_by"]),
        order_type=array.elementType.simpleString(),
        parts=parts,
        rows=int(description["rows"]),
        heaviest=_heaviest(figures, len(names)),
        largest_part=int(totals[0]),
    )


def _heaviest(figures: DataFrame, key_columns: int) -> tuple[HeavyKey, ...]:
    """Collect the heaviest keys; equally heavy ones are sorted by their texts, so that reports can be compared."""
    from pyspark.sql import functions as F

    keys = [f"key{i}" for i in range(key_columns)]
    rows = figures.orderBy(F.desc("row_count"), *keys).limit(HEAVIEST).collect()
    return tuple(
        HeavyKey(
            values=tuple(row[key] for key in keys),
            rows=row["row_count"],
            is_hot=row["is_hot"],
            boundaries=tuple(row["boundaries"] or ()),
            largest_part=row["largest_part"],
        )
        for row in rows
    )


def _text(value: Column, data_type: DataType) -> Column:
    """A value as text; bytes are shown as hex digits, as they need not be text."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType

    return F.concat(F.lit("0x"), F.hex(value)) if isinstance(data_type, BinaryType) else value.cast("string")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
