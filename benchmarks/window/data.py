"""The table of a case, `t`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.common.data import START_US, distinct_times, made_once, timestamps, write

VERSION = 1  # in the folder's name: count it up when the data changes
HALF_YEAR_S = 182 * 24 * 3600
COLD_KEYS = 10_000
HOT_SHARE = 0.9


@dataclass(frozen=True)
class Shape:
    """The shape of the table.

    Args:
        name: Name of the folder.
        rows: Rows of the table.
        make: Makes the table with a number of rows.
    """

    name: str
    rows: int
    make: Callable[[int, np.random.Generator], pa.Table]

    def scaled(self, scale: float) -> Shape:
        """The same table with fewer rows."""
        return replace(self, rows=max(int(self.rows * scale), 1))


def tables(shape: Shape) -> dict[str, Path]:
    """The folder of `t`, which is made if it is missing.

    Args:
        shape: The shape of the table. No two rows have the same time, so a frame of rows has one right answer.
    """
    name = f"{shape.name}-{shape.rows}-v{VERSION}"
    return {"t": made_once(name, lambda folder: write(folder, shape.make(shape.rows, np.random.default_rng(7))))}


def _trips(rows: int, random: np.random.Generator) -> pa.Table:
    """Trips like those of the article, whose own data needs a login: two vendors, half a year, rows in no order."""
    second = random.choice(HALF_YEAR_S, rows, replace=False)
    duration = np.clip(random.lognormal(6.5, 0.8, rows), 1, 86_400)
    return pa.table(
        {
            "id": np.arange(rows),
            "vendor_id": np.where(random.random(rows) < 0.46, 1, 2).astype(np.int32),
            "pickup_datetime": timestamps(START_US + second.astype(np.int64) * 1_000_000),
            "passenger_count": random.choice(6, rows, p=[0.7, 0.14, 0.05, 0.02, 0.05, 0.04]).astype(np.int32) + 1,
            "trip_duration": duration.astype(np.int32),
        }
    )


def _skewed(rows: int, random: np.random.Generator) -> pa.Table:
    """One key holds 90 %. Values are amounts in cents: neither they nor their sums are exact as doubles."""
    number = random.permutation(rows)
    key = np.where(number < rows * HOT_SHARE, 0, 1 + number % COLD_KEYS) * 7919  # ids with gaps
    value = np.round(random.lognormal(3, 1, rows), 2)
    return pa.table({"id": np.arange(rows), "k": key, "ts": distinct_times(rows, random), "value": value})


TRIPS = Shape("trips", 1_460_000, _trips)
SKEWED = Shape("skewed", 10_000_000, _skewed)
