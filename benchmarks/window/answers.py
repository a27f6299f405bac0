"""Answers compared row by row: exactly, except that sums of doubles may differ by rounding."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
        ids: The ids of its rows.
        columns: One column per aggregate.
        whole: Whether it has a row for each row of the table; else only its own rows are compared.
        subtracted: Whether sums were updated by subtracting the rows that leave the frame.
    """

    ids: np.ndarray
    columns: list[np.ndarray]
    whole: bool = True
    subtracted: bool = False


class RowByRow(Digest):
    """The digest is the whole answer.

    Args:
        question: The question of the answer.
        whole: See `Rows`.
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
        return self._rows(connection.sql(sql).to_arrow_table())

    def polars(self, answer: polars.DataFrame) -> Rows:
        """See `Digest`. Polars subtracts."""
        return replace(self._rows(answer.to_arrow()), subtracted=True)

    def differ(self, theirs: Rows, ours: Rows) -> str:
        """See `Digest`."""
        position = np.minimum(np.searchsorted(ours.ids, theirs.ids), len(ours.ids) - 1)
        if theirs.whole and len(theirs.ids) != len(ours.ids):
            return f"has {len(theirs.ids)} rows, Joinery {len(ours.ids)}"
        if not np.array_equal(ours.ids[position], theirs.ids):
            return "has rows that Joinery has not"
        for i, (function, column) in enumerate(self.question.aggregates):
            mine, other = ours.columns[i][position], theirs.columns[i]
            allowed = self._allowed(ours, i, theirs.subtracted)[position]
            wrong = np.flatnonzero(~(np.abs(mine - other) <= allowed))
            if len(wrong):
                first = wrong[0]
                return (
                    f"answers {other[first]} for {function}({column}) of id {theirs.ids[first]}, Joinery {mine[first]} "
                    f"({len(wrong)} rows)"
                )
        return ""

    def _allowed(self, answer: Rows, i: int, subtracted: bool) -> np.ndarray:
        """The difference that two engines may have in an aggregate, because they add in different orders.

        Each sum over the n rows of a frame has an error of less than half of n*eps*sum|x|. No value is negative, so
        sum|x| is the sum. An engine that subtracts keeps the errors of all earlier rows of the table. Each of them is
        at most a rounding of the largest sum.
        """
        functions = [function for function, _ in self.question.aggregates]
        values = answer.columns[i]
        if functions[i] not in ("sum", "avg") or values.dtype.kind != "f":
            return np.zeros(len(values))
        rows = self.question.rows + 1
        n = answer.columns[functions.index("count")] if self.question.hours else np.full(len(values), rows)
        if subtracted:
            largest = values.max() * (n.max() if functions[i] == "avg" else 1)
            return np.full(len(values), len(values) * EPSILON * largest)
        allowed: np.ndarray = n * EPSILON * values
        return allowed

    def _rows(self, table: pa.Table) -> Rows:
        ids = table["id"].to_numpy()
        order = np.argsort(ids)
        columns = [_numbers(table[f"a{i}"])[order] for i in range(len(self.question.aggregates))]
        return Rows(ids[order], columns, self.whole)


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    """Numbers in one type, because engines sum integers into different types (DuckDB into 128 bits)."""
    numbers: np.ndarray = column.cast(pa.float64() if pa.types.is_floating(column.type) else pa.int64()).to_numpy()
    return numbers
