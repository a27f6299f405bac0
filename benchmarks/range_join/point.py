"""The join of eBay's article: 1.5 M addresses and 12 M disjoint ranges of them, each of a country."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS
from benchmarks.range_join import queries as q
from benchmarks.range_join.data import addresses
from benchmarks.range_join.run import Case, at_least, run_group
from benchmarks.report import Result

POINTS = 1_500_000
RANGES = 12_000_000
BINS = (1 << 10, 1 << 12, 1 << 14)
BINNED = (*map(q.Binned, BINS), q.Binned(BINS[1], "l"))
CASES = [
    Case(
        name="1.5 M points, 12 M disjoint ranges",
        shape=addresses(POINTS, RANGES),
        question=q.Question(),
        peers=(q.NESTED_LOOP, DUCKDB, POLARS),
        binned=BINNED,
        bounds=(at_least(1000, q.NESTED_LOOP), at_least(4, *BINNED), at_least(1.4, DUCKDB), at_least(1.4, POLARS)),
        share=0.0002,
        indexed=("r",),
    )
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("range_point", "Range join, points in disjoint ranges", CASES, scale)
