"""Points in ranges, with the points in no range in the answer. (Polars has no such join.)"""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB
from benchmarks.range_join import point, point_1m
from benchmarks.range_join import queries as q
from benchmarks.range_join.data import addresses
from benchmarks.range_join.run import Case, at_least, run_group
from benchmarks.report import Result

CASES = [
    Case(
        name=f"1.5 M points, {ranges // 1_000_000} M disjoint ranges, LEFT JOIN",
        shape=addresses(point.POINTS, ranges),
        question=q.Question(left=True),
        peers=(DUCKDB,),
        binned=binned,
        bounds=(at_least(2, *binned),),
        indexed=("l", "r"),
    )
    for ranges, binned in (
        (point.RANGES, tuple(map(q.Binned, point.BINS))),
        (point_1m.RANGES, (*map(q.Binned, point_1m.BINS), q.Binned(point_1m.BINS[1], "r"))),
    )
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("range_point_left", "Range join, all points with their ranges", CASES, scale)
