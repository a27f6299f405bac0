"""Intervals that overlap: 1 M on either side, about 5 matches for each."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS
from benchmarks.range_join import queries as q
from benchmarks.range_join.data import OVERLAPPING
from benchmarks.range_join.run import Case, at_least, run_group
from benchmarks.report import Result

BINS = (4_000, 8_000, 16_000)
BINNED = (*map(q.Binned, BINS), q.Binned(BINS[1], "r"))
CASES = [
    Case(
        name="1 M x 1 M intervals, 5 matches each",
        shape=OVERLAPPING,
        question=q.Question(overlap=True),
        peers=(DUCKDB, POLARS),
        binned=BINNED,
        bounds=(at_least(2, *BINNED), at_least(0.4, DUCKDB)),
    )
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("range_overlap", "Range join, intervals that overlap", CASES, scale)
