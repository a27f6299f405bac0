"""Frames of a few rows, for which going over them again for each row is hard to beat."""

from __future__ import annotations

from benchmarks.common.rounds import Bound
from benchmarks.report import Result
from benchmarks.window import article
from benchmarks.window import queries as q
from benchmarks.window.data import TRIPS
from benchmarks.window.run import Case, run_group

FRAMES = (3, 10, 50)
AGGREGATES = {"8 aggregates": article.AGGREGATES, "one sum": (("sum", "trip_duration"),)}
CASES = [
    Case(
        name=f"frames of {rows} rows, {name}",
        shape=TRIPS,
        question=q.Question("vendor_id", "pickup_datetime", aggregates, rows=rows - 1),
        peers=(q.STOCK, q.SEGMENT_TREE),
        bounds=(Bound((q.STOCK,), 0.95),),
        rounds=7,
        interpreted=False,
        floor=False,
    )
    for name, aggregates in AGGREGATES.items()
    for rows in FRAMES
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("window_small", "Sliding window, small frames", CASES, scale)
