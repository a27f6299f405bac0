"""Aggregates over the whole answer. Equal answers have exactly equal values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.common.engines import Digest

if TYPE_CHECKING:
    import polars
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

_AGGREGATES = (
    "count(*)",
    "count(r_id)",
    "sum(id)",
    "sum(r_id)",
    "sum((id % 1009) * (r_id % 1013))",
    "sum(length(label))",
)


@dataclass(frozen=True)
class Sums:
    """The sums over an answer.

    Args:
        all_rows: Sums over all rows; empty if only the first are compared.
        first: Sums over the rows with the first ids of `l`.
    """

    all_rows: tuple[int, ...]
    first: tuple[int, ...]


class RowSums(Digest):
    """Counts, and sums over every column and over pairs of ids.

    Args:
        first: Sums of the rows below this id are also computed separately, for a peer that answers only for these.
        whole: Whether the answer has all ids; else only the sums below `first` are compared.
    """

    def __init__(self, first: int = 0, whole: bool = True) -> None:
        self.first = first
        self.whole = whole
        wheres = ("", f" FILTER (WHERE id < {first})")
        self.aggregates = ", ".join(f"{aggregate}{where}" for where in wheres for aggregate in _AGGREGATES)

    def spark(self, session: SparkSession, sql: str) -> Sums:
        """See `Digest`."""
        return self._sums(session.sql(f"SELECT {self.aggregates} FROM ({sql})").collect()[0])

    def duckdb(self, connection: DuckDBPyConnection, sql: str) -> Sums:
        """See `Digest`."""
        return self._sums(connection.execute(f"SELECT {self.aggregates} FROM ({sql})").fetchone())

    def polars(self, answer: polars.DataFrame) -> Sums:
        """See `Digest`."""
        import polars as pl

        aggregates = [
            pl.len(), pl.col("r_id").count(), pl.col("id").sum(), pl.col("r_id").sum(),
            ((pl.col("id") % 1009) * (pl.col("r_id") % 1013)).sum(),
            pl.col("label").str.len_chars().cast(pl.Int64).sum(),
        ]  # fmt: skip
        parts = [
            part.select(value.alias(f"a{i}") for i, value in enumerate(aggregates)).row(0)
            for part in (answer, answer.filter(pl.col("id") < self.first))
        ]
        return self._sums([*parts[0], *parts[1]])

    def differ(self, theirs: Sums, ours: Sums) -> str:
        """See `Digest`."""
        pair = (theirs.all_rows, ours.all_rows) if theirs.all_rows else (theirs.first, ours.first)
        return "" if pair[0] == pair[1] else f"answers {pair[0]}, Joinery {pair[1]}"

    def _sums(self, row: Any) -> Sums:
        """Makes numbers of a row of aggregates. Sums of no rows are 0."""
        numbers = tuple(int(value or 0) for value in row)
        count = len(_AGGREGATES)
        return Sums(numbers[:count] if self.whole else (), numbers[count:])
