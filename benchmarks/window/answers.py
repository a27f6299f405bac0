"""Answers compared row by row: exactly, but for what rounding may do to sums of doubles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.common.engines import Digest
from benchmarks.report import ROOT
from benchmarks.window.queries import Question

if TYPE_CHECKING:
    import polars
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Rows:
    """An answer in the order of its ids.

    Args:
        ids: Of its rows.
        columns: One per aggregate.
    """

    ids: np.ndarray
    columns: list[np.ndarray]


class RowByRow(Digest):
    """The whole answer.

    Args:
        question: What it answers.
        whole: Whether it has all rows of the table; else those that it has are compared.
    """

    def __init__(self, question: Question, whole: bool = True) -> None:
        self.question = question
        self.whole = whole

    def spark(self, session: SparkSession, sql: str) -> Rows:
        """See `Digest`."""
        folder = ROOT / "target" / "bench" / "answer"
        session.sql(sql).write.mode("overwrite").parquet(str(folder))
        return self._rows(pq.read_table(folder))

    def duckdb(self, connection: DuckDBPyConnection, sql: str) -> Rows:
        """See `Digest`."""
        return self._rows(connection.execute(sql).to_arrow_table())

    def polars(self, answer: polars.DataFrame) -> Rows:
        """See `Digest`."""
        return self._rows(answer.to_arrow())

    def differ(self, theirs: Rows, ours: Rows) -> str:
        """See `Digest`. Either sum may be off by less than half of n*eps*sum|x| over the n rows of its frame."""
        position = np.searchsorted(ours.ids, theirs.ids)
        if self.whole and len(theirs.ids) != len(ours.ids):
            return f"has {len(theirs.ids)} rows, Joinery {len(ours.ids)}"
        if not np.array_equal(ours.ids[np.minimum(position, len(ours.ids) - 1)], theirs.ids):
            return "has rows that Joinery has not"
        n = self._rows_in_frame(ours)[position]
        for i, (function, column) in enumerate(self.question.aggregates):
            mine, other = ours.columns[i][position], theirs.columns[i]
            summed = function in ("sum", "avg") and mine.dtype.kind == "f"
            allowed = n * EPSILON * np.abs(mine) if summed else 0  # nothing is negative: sum|x| is the sum
            wrong = np.flatnonzero(~(np.abs(mine - other) <= allowed))
            if len(wrong):
                first = wrong[0]
                return (
                    f"answers {other[first]} for {function}({column}) of id {theirs.ids[first]}, Joinery {mine[first]} "
                    f"({len(wrong)} rows)"
                )
        return ""

    def _rows_in_frame(self, answer: Rows) -> np.ndarray:
        functions = [function for function, _ in self.question.aggregates]
        if self.question.hours:
            return answer.columns[functions.index("count")]
        return np.full(len(answer.ids), self.question.rows + 1)

    def _rows(self, table: pa.Table) -> Rows:
        ids = table["id"].to_numpy()
        order = np.argsort(ids)
        return Rows(ids[order], [_numbers(table[f"a{i}"])[order] for i in range(len(self.question.aggregates))])


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    """Engines sum integers into types of their own (DuckDB into 128 bits)."""
    numbers: np.ndarray = column.cast(pa.float64() if pa.types.is_floating(column.type) else pa.int64()).to_numpy()
    return numbers
