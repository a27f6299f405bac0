"""Whole answers, which are small: compared row by row, to the last digit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.common.engines import SparkDigest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SortedRows(SparkDigest):
    """Every row as text: with the names of its columns, every digit of its decimals, and NULLs.

    The text is sorted, because an ORDER BY leaves rows that are alike in its columns in any order.
    """

    def spark(self, session: SparkSession, sql: str) -> list[str]:
        """See `SparkDigest`."""
        return sorted(map(repr, session.sql(sql).collect()))

    def differ(self, theirs: list[str], ours: list[str]) -> str:
        """See `SparkDigest`."""
        if len(theirs) != len(ours):
            return f"answers {len(theirs)} rows, Joinery {len(ours)}"
        pairs = zip(theirs, ours, strict=True)
        return next((f"answers {a}, Joinery {b}" for a, b in pairs if a != b), "")
