"""The same question in all spellings of all engines.

Every query returns `id` of `l`, then `r_id` and `label` of `r`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common.engines import polars_library
from benchmarks.common.rounds import FLOOR_UNSORTED

if TYPE_CHECKING:
    import polars

NESTED_LOOP = "Spark nested loop join"
HASH_JOIN = "Spark broadcast hash join + filter"
MERGE_JOIN = "Spark sort merge join + filter"
SHUFFLED = "joinery, shuffled"
FLOOR_SCAN = "floor: scan"
COLUMNS = "l.id, r.r_id, r.label"


@dataclass(frozen=True)
class Question:
    """The condition by which rows of `r` match a row of `l`.

    Args:
        overlap: Whether intervals overlap; else a point lies in an interval.
        keyed: Whether keys are equal, and an interval does not include its end.
        left: Whether points in no interval are in the answer, too.
    """

    overlap: bool = False
    keyed: bool = False
    left: bool = False

    @property
    def on(self) -> str:
        """The ON condition."""
        if self.overlap:
            return "l.lo <= r.hi AND r.lo <= l.hi"
        return "l.k = r.k AND l.at >= r.lo AND l.at < r.hi" if self.keyed else "l.at BETWEEN r.lo AND r.hi"

    @property
    def join(self) -> str:
        """The kind of join."""
        return "LEFT JOIN" if self.left else "JOIN"

    @property
    def left_columns(self) -> list[str]:
        """Columns of `l` that are read."""
        return ["id", *(["k"] if self.keyed else []), *(["lo", "hi"] if self.overlap else ["at"])]


@dataclass(frozen=True)
class Binned:
    """A join without a range join: both sides compute their bins, and equal bins meet.

    Args:
        width: The width of a bin.
        broadcast: The side that a hint broadcasts; empty if Spark chooses how to join.
    """

    width: int
    broadcast: str = ""

    @property
    def name(self) -> str:
        """The name in the table."""
        return f"hand-binned by {self.width:,}" + (f", {self.broadcast} broadcast" if self.broadcast else "")

    def query(self, question: Question) -> str:
        """The query for stock Spark.

        Args:
            question: The question, without a key.
        """
        # two intervals meet only in the first bin that they share, so no pair comes twice
        once = f"AND r.bin = greatest(l.lo DIV {self.width}, r.lo DIV {self.width})" if question.overlap else ""
        bins = f"explode(sequence(lo DIV {self.width}, hi DIV {self.width})) AS bin"
        left_bin = bins if question.overlap else f"at DIV {self.width} AS bin"
        hint = f"/*+ BROADCAST({self.broadcast}) */ " if self.broadcast else ""
        return (
            f"SELECT {hint}{COLUMNS} FROM (SELECT *, {left_bin} FROM l) l {question.join} (SELECT *, {bins} FROM r) r "
            f"ON l.bin = r.bin AND {question.on} {once}"
        )


def range_join(question: Question, hint: str = "", left: str = "l") -> str:
    """The query in SQL, which Spark and DuckDB spell alike.

    Args:
        question: The question.
        hint: A hint for Spark, such as `BROADCAST(r)`; empty for the automatic choice.
        left: The table to read as `l`.
    """
    hint = f"/*+ {hint} */ " if hint else ""
    return f"SELECT {hint}{COLUMNS} FROM {left} l {question.join} r ON {question.on}"


def floors(question: Question) -> dict[str, str]:
    """Lower bounds for joins: a scan of both tables and, with a key, also a shuffle by it.

    Args:
        question: The question.
    """
    right = ["r_id", *(["k"] if question.keyed else []), "lo", "hi", "label"]
    # both sides have as many columns, of the same types
    padding = ", ".join(["r_id AS id", *(name for name in question.left_columns if name in right)])
    padding += "" if question.overlap else ", lo AS at"
    nulls = "0 AS r_id, lo, hi, '' AS label" if question.overlap else "0 AS r_id, at AS lo, at AS hi, '' AS label"

    def scanned(left: str, right: str) -> str:
        return (
            f"SELECT {', '.join(question.left_columns)}, {nulls} FROM {left} "
            f"UNION ALL SELECT {padding}, r_id, lo, hi, label FROM {right}"
        )

    found = {FLOOR_SCAN: scanned("l", "r")}
    if question.keyed:
        sides = [f"(SELECT /*+ REPARTITION(k) */ * FROM {name})" for name in ("l", "r")]
        found[FLOOR_UNSORTED] = scanned(*sides)
    return found


def polars_query(question: Question, files: Mapping[str, Path]) -> polars.LazyFrame:
    """Polars' inequality join or, if there is a key, an as-of join to the last interval that began.

    Intervals of a key do not overlap. The inequality join would first compute all pairs of a key, and keep them in
    memory.

    Args:
        question: The question, as an inner join, because Polars has no other join on inequalities.
        files: The folders of `l` and `r`.
    """
    pl = polars_library()
    left, right = (pl.scan_parquet(f"{files[name]}/*.parquet") for name in ("l", "r"))
    joined: polars.LazyFrame
    if question.keyed:
        began = left.sort("at").join_asof(
            right.sort("lo"), left_on="at", right_on="lo", by="k", coalesce=False,
            check_sortedness=False,  # just sorted
        )  # fmt: skip
        joined = began.filter(pl.col("at") < pl.col("hi"))
    elif question.overlap:
        left = left.rename({"lo": "l_lo", "hi": "l_hi"})
        joined = left.join_where(right, pl.col("l_lo") <= pl.col("hi"), pl.col("l_hi") >= pl.col("lo"))
    else:
        joined = left.join_where(right, pl.col("at") >= pl.col("lo"), pl.col("at") <= pl.col("hi"))
    return joined.select("id", "r_id", "label")
