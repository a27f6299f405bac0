"""The same window in SQL and in Polars. Every query returns `id` and one column per aggregate, `a0`, `a1`, ..."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common.engines import polars_library
from benchmarks.common.rounds import FLOOR, FLOOR_UNSORTED

if TYPE_CHECKING:
    import polars

STOCK = "Spark default"
SEGMENT_TREE = "Spark segment tree"
NO_CODEGEN = "joinery, codegen off"
SMALLEST = 5  # rows of a frame at small scale, so that it still slides


@dataclass(frozen=True)
class Question:
    """Aggregates over the rows up to each row.

    Args:
        key: PARTITION BY.
        order: ORDER BY, a timestamp.
        aggregates: Function and column; the columns hold no negative numbers and no NULLs.
        rows: Preceding rows of a ROWS frame.
        hours: Preceding hours of a RANGE frame. One aggregate has to be a count then, which bounds the errors of
            rounding.
    """

    key: str
    order: str
    aggregates: tuple[tuple[str, str], ...]
    rows: int = 0
    hours: int = 0

    def scaled(self, scale: float) -> Question:
        """The same question with smaller frames, for a smaller table."""
        return replace(self, rows=max(int(self.rows * scale), min(self.rows, SMALLEST)))

    @property
    def columns(self) -> list[str]:
        """The aggregated columns."""
        return list(dict.fromkeys(column for _, column in self.aggregates))

    @property
    def frame(self) -> str:
        """The frame in SQL."""
        if self.hours:
            return f"RANGE BETWEEN INTERVAL {self.hours} HOUR PRECEDING AND CURRENT ROW"
        return f"ROWS BETWEEN {self.rows} PRECEDING AND CURRENT ROW"


def window(question: Question, hint: str = "", table: str = "t") -> str:
    """The query in SQL, which Spark and DuckDB spell alike.

    Args:
        question: The question.
        hint: A hint of Joinery, such as `SKEW_WINDOW(4)`; empty for the automatic choice.
        table: The table to read.
    """
    calls = ", ".join(f"{name}({column}) OVER w AS a{i}" for i, (name, column) in enumerate(question.aggregates))
    hint = f"/*+ {hint} */ " if hint else ""
    return (
        f"SELECT {hint}id, {calls} FROM {table} "
        f"WINDOW w AS (PARTITION BY {question.key} ORDER BY {question.order} {question.frame})"
    )


def floors(question: Question) -> dict[str, str]:
    """Lower bounds for windows that shuffle their rows: a scan and a shuffle, with a sort and without."""
    columns = ", ".join(["id", question.key, question.order, *question.columns])
    shuffled = f"SELECT /*+ REPARTITION({question.key}) */ {columns} FROM t"
    return {
        FLOOR: f"SELECT * FROM ({shuffled}) SORT BY {question.key}, {question.order}",
        FLOOR_UNSORTED: shuffled,
    }


def polars_query(question: Question, folder: Path) -> polars.LazyFrame:
    """Polars' rolling aggregates over rows sorted by time, which is the fastest of its spellings.

    Args:
        question: The question.
        folder: The folder of `t`.
    """
    pl = polars_library()
    table = pl.scan_parquet(f"{folder}/*.parquet")
    types = table.collect_schema()

    def rolling(function: str, column: str) -> polars.Expr:
        values = pl.col(column)
        if function == "count":
            function, values = "sum", values.is_not_null().cast(pl.Int64)
        elif function == "sum" and types[column].is_integer():
            values = values.cast(pl.Int64)  # as the other engines do
        name = {"avg": "mean"}.get(function, function)
        if question.hours:
            window = getattr(values, f"rolling_{name}_by")(question.order, f"{question.hours}h", closed="both")
        else:
            window = getattr(values, f"rolling_{name}")(question.rows + 1, min_samples=1)
        found: polars.Expr = window.over(question.key)
        return found

    calls = {f"a{i}": rolling(function, column) for i, (function, column) in enumerate(question.aggregates)}
    answer: polars.LazyFrame = table.sort(question.order).select("id", **calls)
    return answer
