"""A frame of time: the hour up to each row, which for the hot key is 12,500 rows."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS, Bound
from benchmarks.report import Result
from benchmarks.window import queries as q
from benchmarks.window.data import SKEWED
from benchmarks.window.run import Case, run_group

AGGREGATES = (("sum", "value"), ("min", "value"), ("avg", "value"), ("count", "value"))
CASES = [
    Case(
        name="10 M, one key holds 90 %, the hour before",
        shape=SKEWED,
        question=q.Question("k", "ts", AGGREGATES, hours=1),
        peers=(q.STOCK, q.SEGMENT_TREE, DUCKDB, POLARS),
        bounds=(Bound((q.SEGMENT_TREE,), 5),),
        share=0.01,
        hint="SKEW_WINDOW(4)",
    )
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("window_range", "Sliding window over a range of time, skewed key", CASES, scale)
