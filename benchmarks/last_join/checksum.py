"""Aggregates over the whole answer. Equal answers have exactly equal values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.common.engines import Digest

if TYPE_CHECKING:
    import polars
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

_AGGREGATES = (
    "count(*), count(r_value), sum(value), sum(r_value * (id % 1009)), sum(r_qty), sum(length(r_note)), "
    "sum({micros}(r_ts) % 1000003)"
)
Sums = tuple[int, ...]


class Checksum(Digest):
    """Count, NULLs and sums over every column of `r`."""

    def spark(self, session: SparkSession, sql: str) -> Sums:
        """See `Digest`."""
        return _numbers(session.sql(f"SELECT {_AGGREGATES.format(micros='unix_micros')} FROM ({sql})").collect()[0])

    def duckdb(self, connection: DuckDBPyConnection, sql: str) -> Sums:
        """See `Digest`."""
        query = f"SELECT {_AGGREGATES.format(micros='epoch_us')} FROM ({sql})"
        return _numbers(connection.execute(query).fetchone())

    def polars(self, answer: polars.DataFrame) -> Sums:
        """See `Digest`."""
        import polars as pl

        row = answer.select(
            rows=pl.len(), matched=pl.col("r_value").count(), left=pl.col("value").sum(),
            value=(pl.col("r_value") * (pl.col("id") % 1009)).sum(), qty=pl.col("r_qty").cast(pl.Int64).sum(),
            note=pl.col("r_note").str.len_chars().cast(pl.Int64).sum(),
            ts=(pl.col("r_ts").dt.epoch("us") % 1000003).sum(),
        ).row(0)  # fmt: skip
        return _numbers(row)

    def differ(self, theirs: Sums, ours: Sums) -> str:
        """See `Digest`."""
        return "" if theirs == ours else f"answers {theirs}, Joinery {ours}"


def _numbers(row: Any) -> Sums:
    """Make integers that engines agree on. Values are multiples of 1/4, and sums of no rows are 0."""
    return tuple(int((value or 0) * 4) for value in row)
