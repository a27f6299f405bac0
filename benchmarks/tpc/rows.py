"""Digests for small answers, which are compared row by row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.common.engines import SparkDigest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


LAST_LIMIT = re.compile(r"\bLIMIT\s+\d+\s*;?\s*$", re.IGNORECASE)
DIGITS = 9  # of a double


class SortedRows(SparkDigest):
    """Every row as text: with the names of its columns, every digit of its decimals, and NULLs.

    The texts are sorted, because an ORDER BY leaves rows with the same values in any order.

    Attributes:
        compared: The same in words, for a page.
    """

    compared = "whole, to the last digit, rows in any order"

    def spark(self, session: SparkSession, sql: str) -> list[str]:
        """See `SparkDigest`."""
        return sorted(map(repr, session.sql(sql).collect()))

    def differ(self, theirs: list[str], ours: list[str]) -> str:
        """See `SparkDigest`."""
        if len(theirs) != len(ours):
            return f"answers {len(theirs)} rows, Joinery {len(ours)}"
        pairs = zip(theirs, ours, strict=True)
        return next((f"answers {a}, Joinery {b}" for a, b in pairs if a != b), "")


class AllRows(SortedRows):
    """Every row as text, of a query without its last LIMIT. It then has one right answer although ORDER BY leaves ties.

    Only nine digits of doubles are compared, because the others depend on the order in which rows are summed up.
    """

    compared = (
        "whole, rows in any order, of doubles nine digits, and without the last LIMIT, as many an ORDER BY leaves ties"
    )

    def spark(self, session: SparkSession, sql: str) -> list[str]:
        """See `SparkDigest`."""
        rows = session.sql(LAST_LIMIT.sub("", sql)).collect()
        return sorted(repr(tuple(_rounded(value) for value in row)) for row in rows)


def _rounded(value: object) -> object:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
