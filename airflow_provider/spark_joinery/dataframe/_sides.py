"""The two sides of a range join, and its result with each key once.

The condition has to say which side each of its columns is from. ``frame["x"]`` does so, unless both sides come from one
DataFrame, as in a self join. A classic session then takes one side's column for the other's, or loses it. Such columns
are copied under names of our own, which the result leaves out. An alias of our own for each side would hide the
caller's aliases, which tell the columns of the result apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from spark_joinery.dataframe._arguments import column_term, quoted
from spark_joinery.dataframe._range_arguments import Range
from spark_joinery.dataframe._session import functions_of, is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PREFIX = "__joinery_"


class Sides:
    """The two sides, ready to be joined.

    Args:
        left: The left side as the caller gave it.
        right: The right side.
        ranges: The point or interval of each side.
        names: Columns of both sides that have to be equal.

    Attributes:
        left: The left side with all columns that the condition names.
        right: The right side likewise.
        ranges: The point or interval of each side, as Columns.
        keys: Pairs of columns that have to be equal, one of each side.
    """

    def __init__(self, left: DataFrame, right: DataFrame, ranges: tuple[Range, Range], names: Sequence[str]) -> None:
        self._functions = functions_of(left)
        self._names = names
        self._copies: list[str] = []
        self._by_copies = _read_the_same(left, right)
        of_left, of_right = _with_quotes(left, ranges[0]), _with_quotes(right, ranges[1])
        self.left, left_column = self._prepare(left, of_left)
        self.right, right_column = self._prepare(right, of_right)
        self.ranges = (_as_columns(of_left, left_column), _as_columns(of_right, right_column))
        self.keys = [(left_column(quoted(name)), right_column(quoted(name))) for name in names]

    def _prepare(self, frame: DataFrame, side: Range) -> tuple[DataFrame, Callable[[str], Any]]:
        """Return a side to be joined, and the function that makes Columns of the names that the caller gave."""
        if not self._by_copies:
            # Connect finds the side of a column by its DataFrame, and this new DataFrame is on one side only
            own = frame.select("*")
            return own, own.__getitem__
        terms = [term for term in (side.start, side.end) if isinstance(term, str)] + [*map(quoted, self._names)]
        copies = {term: f"{_PREFIX}{len(self._copies) + i}" for i, term in enumerate(dict.fromkeys(terms))}
        self._copies.extend(copies.values())
        column = self._functions.col
        own = frame.select("*", *(column(term).alias(copy) for term, copy in copies.items()))
        return own, lambda term: column(copies[term])

    def result(self, joined: DataFrame, how: str) -> DataFrame:
        """Give a join the columns that USING gives it: first the keys, each once.

        Args:
            joined: The sides, joined.
            how: The type of join.
        """
        if self._names and (self._by_copies or how == "full"):
            return self._with_new_keys(joined, how)
        if self._names:
            return self._with_keys_of_one_side(joined, how)
        return joined.drop(*self._copies) if self._copies else joined

    def _with_new_keys(self, joined: DataFrame, how: str) -> DataFrame:
        new = {f"{_PREFIX}key_{i}": name for i, name in enumerate(self._names)}
        keys = [self._merged(*pair, how).alias(key) for key, pair in zip(new, self.keys, strict=True)]
        # dropped by name, and so from both sides
        return joined.select(*keys, "*").drop(*self._names, *self._copies).withColumnsRenamed(new)

    def _merged(self, left: Any, right: Any, how: str) -> Any:
        if how == "full":
            return self._functions.coalesce(left, right)
        return right if how == "right" else left

    def _with_keys_of_one_side(self, joined: DataFrame, how: str) -> DataFrame:
        """Keep the keys as columns of one side, so that callers can still use `left["key"]`, as after Spark's USING."""
        if how not in ("semi", "anti"):  # these have no columns of the right side
            joined = joined.drop(*(left if how == "right" else right for left, right in self.keys))
        names = "|".join(map(_literal, self._names))
        others = joined.colRegex(rf"`(?s)(?!(?:{names})\z).*`")
        return joined.select(*(quoted(name) for name in self._names), others)


def _literal(name: str) -> str:
    r"""The Java regular expression that only this name matches; a name may have any characters, even ``\E``."""
    return "\\Q" + name.replace("\\E", "\\E\\\\E\\Q") + "\\E"


def _with_quotes(frame: DataFrame, side: Range) -> Range:
    return Range(column_term(frame, side.start), column_term(frame, side.end), side.is_point)


def _as_columns(side: Range, column: Callable[[str], Any]) -> Range:
    start, end = (column(term) if isinstance(term, str) else term for term in (side.start, side.end))
    return Range(start, end, side.is_point)


def _read_the_same(left: DataFrame, right: DataFrame) -> bool:
    """Whether a classic session may take a column of one side for that of the other.

    Spark gives the right side's columns new ids if a relation is on both sides, and ``right["x"]`` does not know
    these.
    """
    if is_connect(left):
        return False
    lefts, rights = _columns_read(left), _columns_read(right)
    return any(not one.intersect(other).isEmpty() for one, other in itertools.product(lefts, rights))


def _columns_read(frame: DataFrame) -> list[Any]:
    """The columns of a DataFrame, and those of each relation that it reads, as sets of the JVM."""
    plan: Any = frame._jdf.queryExecution().analyzed()
    leaves = plan.collectLeaves()
    return [plan.outputSet(), *(leaves.apply(i).outputSet() for i in range(leaves.size()))]
