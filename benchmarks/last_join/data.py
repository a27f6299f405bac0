"""The two tables of a case, `l` and `r`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.common.data import distinct_times, made_once, write

VERSION = 1  # in the folder's name: count it up when the data changes


@dataclass(frozen=True)
class Shape:
    """The shape of the tables. Both have the same number of rows.

    Args:
        name: Name of the folder.
        rows: Rows of each table.
        keys: Distinct keys of `r`; each has about rows / keys rows on either side.
        hot: Whether one key holds half of both tables.
    """

    name: str
    rows: int
    keys: int
    hot: bool = False

    def scaled(self, scale: float) -> Shape:
        """The same shape with fewer rows and, unless too few are left, as many rows per key."""
        return replace(self, rows=max(int(self.rows * scale), 1), keys=max(int(self.keys * scale), 1 + self.hot))


def tables(shape: Shape) -> dict[str, Path]:
    """The folders of `l` and `r`, which are made if they are missing.

    Args:
        shape: The shape of the tables.

    Returns:
        Folder by table: `l (id BIGINT, k BIGINT, ts TIMESTAMP, value DOUBLE)` and
        `r (k BIGINT, ts TIMESTAMP, value DOUBLE, qty INT, note STRING)`. Rows of a table have different `ts`, so only
        one answer is right. Sums of `value` are exact, so engines agree to the bit.
    """

    def make(folder: Path) -> None:
        random = np.random.default_rng(7)
        write(folder / "l", _left(shape, random))
        write(folder / "r", _right(shape, random))

    folder = made_once(f"{shape.name}-{shape.rows}-{shape.keys}-v{VERSION}", make)
    return {"l": folder / "l", "r": folder / "r"}


def _left(shape: Shape, random: np.random.Generator) -> pa.Table:
    rows = np.arange(shape.rows)
    key = _keys(shape, random)
    key[random.permutation(shape.rows)[: shape.rows // 64]] += 1  # keys that r does not have
    return pa.table({"id": rows, "k": key, "ts": distinct_times(shape.rows, random), "value": _values(shape, random)})


def _right(shape: Shape, random: np.random.Generator) -> pa.Table:
    quantity = random.integers(0, 1000, shape.rows, dtype=np.int32)
    notes = pa.array([f"lot-{i}" for i in range(1000)]).take(pa.array(quantity))
    columns = {"k": _keys(shape, random), "ts": distinct_times(shape.rows, random), "value": _values(shape, random)}
    return pa.table({**columns, "qty": quantity, "note": notes})


def _keys(shape: Shape, random: np.random.Generator) -> np.ndarray:
    number = random.permutation(shape.rows)
    spread = 1 + number % (shape.keys - 1) if shape.hot else number % shape.keys
    return np.where(number < shape.rows // 2, 0, spread) * 7919 if shape.hot else spread * 7919  # ids with gaps


def _values(shape: Shape, random: np.random.Generator) -> np.ndarray:
    return random.integers(0, 1_000_000, shape.rows) / 4
