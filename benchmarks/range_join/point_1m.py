"""Points in ranges, with fewer ranges than points."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS
from benchmarks.range_join import queries as q
from benchmarks.range_join.data import addresses
from benchmarks.range_join.point import POINTS
from benchmarks.range_join.run import Case, at_least, run_group
from benchmarks.report import Result

RANGES = 1_000_000
BINS = (1 << 13, 1 << 15, 1 << 17)
BINNED = (*map(q.Binned, BINS), q.Binned(BINS[1], "l"), q.Binned(BINS[1], "r"))
CASES = [
    Case(
        name="1.5 M points, 1 M disjoint ranges",
        shape=addresses(POINTS, RANGES),
        question=q.Question(),
        peers=(q.NESTED_LOOP, DUCKDB, POLARS),
        binned=BINNED,
        bounds=(at_least(1.5, *BINNED),),
        share=0.002,
        indexed=("l", "r"),
    )
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("range_point_1m", "Range join, points in fewer disjoint ranges", CASES, scale)
