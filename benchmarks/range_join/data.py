"""The two tables of a case: `l` has points or intervals, and `r` has intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.common.data import MONTH_US, START_US, made_once, timestamps, write

VERSION = 1  # in the folder's name: count it up when the data changes
ADDRESSES = 2**32  # of IPv4
COVERED = 0.9  # of the addresses, about
PER_KEY = 50  # intervals
SPACING = 1_000  # distance of the starts of overlapping intervals
LONGEST = 5_000  # length of an interval, so that each has 5 matches
Tables = tuple[pa.Table, pa.Table]


@dataclass(frozen=True)
class Shape:
    """The shape of the tables.

    Args:
        name: Name of the folder, with everything that the data depends on, except the rows.
        left: Rows of `l`.
        right: Rows of `r`.
        make: Makes both tables with a number of rows each.
    """

    name: str
    left: int
    right: int
    make: Callable[[int, int, np.random.Generator], Tables]

    def scaled(self, scale: float) -> Shape:
        """The same tables with fewer rows, and as many matches for each."""
        return replace(self, left=max(int(self.left * scale), 1), right=max(int(self.right * scale), 1))


def tables(shape: Shape) -> dict[str, Path]:
    """The folders of `l` and `r`, which are made if they are missing.

    Args:
        shape: The shape of the tables.

    Returns:
        Folder by table: `l (id BIGINT, at)` or `l (id BIGINT, lo, hi)`, and `r (r_id BIGINT, lo, hi, label STRING)`,
        each with `k BIGINT` if the join has a key. The ids of `l` count from 0, and do not depend on the place of a
        point or interval. `at`, `lo` and `hi` are BIGINT, or TIMESTAMP with a key.
    """

    def make(folder: Path) -> None:
        left, right = shape.make(shape.left, shape.right, np.random.default_rng(7))
        write(folder / "l", left)
        write(folder / "r", right)

    folder = made_once(f"range-{shape.name}-{shape.left}-{shape.right}-v{VERSION}", make)
    return {"l": folder / "l", "r": folder / "r"}


def addresses(points: int, ranges: int) -> Shape:
    """Points, such as IP addresses, and disjoint ranges of very different widths, which cover most of the space.

    Args:
        points: Their number.
        ranges: The number of ranges.
    """
    spacing = ADDRESSES // ranges
    return Shape(f"addresses-{spacing}", points, ranges, partial(_addresses, spacing=spacing))


def _addresses(points: int, ranges: int, random: np.random.Generator, spacing: int) -> Tables:
    step = np.maximum(random.lognormal(0, 1, ranges) * spacing / np.exp(0.5), 1).astype(np.int64)
    start = np.cumsum(step) - step
    width = np.maximum(step * random.uniform(2 * COVERED - 1, 1, ranges), 1).astype(np.int64)
    at = random.integers(0, int(start[-1] + step[-1]), points)
    order = random.permutation(ranges)
    return pa.table({"id": np.arange(points), "at": at}), _right(start[order], (start + width - 1)[order], random)


def _overlapping(left: int, right: int, random: np.random.Generator) -> Tables:
    space = right * SPACING

    def intervals(rows: int) -> tuple[np.ndarray, np.ndarray]:
        start = random.integers(0, space, rows)
        return start, start + random.integers(0, LONGEST, rows)

    return _intervals(*intervals(left)), _right(*intervals(right), random)


def _validity(facts: int, intervals: int, random: np.random.Generator, hot: bool = False) -> Tables:
    """Each key has one version after the other, some followed by a pause. Some facts have a key without versions."""
    keys = max(intervals // PER_KEY, 1)
    number = np.arange(intervals)
    step = MONTH_US // PER_KEY
    start = START_US + number // keys * step + random.integers(0, step // 4, intervals)
    length = step - step // 4 - np.where(random.random(intervals) < 0.3, step // 4, 0)
    order = random.permutation(intervals)
    right = _right(timestamps(start[order]), timestamps((start + length)[order]), random)
    key = random.integers(0, keys, facts)
    key[random.permutation(facts)[: facts // 64]] = keys
    if hot:
        key[random.permutation(facts)[: facts // 2]] = 0
    at = timestamps(START_US + random.integers(0, MONTH_US, facts))
    left = pa.table({"id": np.arange(facts), "k": key * 7919, "at": at})  # ids with gaps
    return left, right.append_column("k", pa.array((number % keys)[order] * 7919))


def _history(facts: int, intervals: int, random: np.random.Generator) -> Tables:
    """One key has half of the facts, and half of the versions: frequent keys change often."""
    left, others = _validity(facts, intervals - intervals // 2, random, hot=True)
    step = MONTH_US // (intervals // 2)
    start = START_US + random.permutation(intervals // 2) * step
    of_hot_key = _right(timestamps(start), timestamps(start + step), random)
    of_hot_key = of_hot_key.append_column("k", pa.array(np.zeros(len(start), dtype=np.int64)))
    right = pa.concat_tables([others.filter(pc.not_equal(others["k"], 0)), of_hot_key])
    return left, right.set_column(0, "r_id", pa.array(np.arange(len(right))))


def _one_long(left: int, right: int, random: np.random.Generator) -> Tables:
    """Short disjoint intervals, and one on each side that is as long as all of them, and overlaps them all."""

    def intervals(rows: int) -> tuple[np.ndarray, np.ndarray]:
        start = random.permutation(rows) * (right * SPACING // rows)
        end = start + SPACING // 4
        start[0], end[0] = 0, right * SPACING
        return start, end

    return _intervals(*intervals(left)), _right(*intervals(right), random)


def _identical(left: int, right: int, random: np.random.Generator) -> Tables:
    sides = [(np.full(rows, 100), np.full(rows, 200)) for rows in (left, right)]
    return _intervals(*sides[0]), _right(*sides[1], random)


def _staggered(left: int, right: int, random: np.random.Generator) -> Tables:
    """Intervals that begin one after the other, each a quarter of the space long: 44 % of all pairs overlap."""

    def intervals(rows: int) -> tuple[np.ndarray, np.ndarray]:
        start = random.permutation(rows) * (right * SPACING // rows)
        return start, start + right * SPACING // 4

    return _intervals(*intervals(left)), _right(*intervals(right), random)


def _intervals(lo: np.ndarray, hi: np.ndarray) -> pa.Table:
    return pa.table({"id": np.arange(len(lo)), "lo": lo, "hi": hi})


def _right(lo: np.ndarray | pa.Array, hi: np.ndarray | pa.Array, random: np.random.Generator) -> pa.Table:
    label = pa.array([f"country-{i}" for i in range(250)]).take(pa.array(random.integers(0, 250, len(lo))))
    return pa.table({"r_id": np.arange(len(lo)), "lo": lo, "hi": hi, "label": label})


OVERLAPPING = Shape("overlapping", 1_000_000, 1_000_000, _overlapping)
VALIDITY = Shape("validity", 5_000_000, 50_000, _validity)
HISTORY = Shape("history", 5_000_000, 50_000, _history)
HOT_VALIDITY = Shape("validity-hot", 5_000_000, 50_000, partial(_validity, hot=True))
ONE_LONG = Shape("one-long", 30_000, 20_000, _one_long)
IDENTICAL = Shape("identical", 3_000, 20_000, _identical)
STAGGERED = Shape("staggered", 3_000, 20_000, _staggered)
