"""The query of the article on skewed windows: two vendors, 10,000 preceding rows, eight aggregates."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS, Bound
from benchmarks.report import Result
from benchmarks.window import queries as q
from benchmarks.window.data import TRIPS
from benchmarks.window.run import Case, run_group

AGGREGATES = tuple(
    (function, column) for column in ("passenger_count", "trip_duration") for function in ("sum", "max", "min", "avg")
)
CASES = [
    Case(
        name="1.46 M trips of 2 vendors, 10,000 preceding",
        shape=TRIPS,
        question=q.Question("vendor_id", "pickup_datetime", AGGREGATES, rows=10_000),
        peers=(q.STOCK, q.SEGMENT_TREE, DUCKDB, POLARS),
        bounds=(
            Bound((q.STOCK,), 500),
            Bound((q.SEGMENT_TREE,), 8),
            Bound((DUCKDB,), 4),
            Bound((POLARS,), 1 / 6),
        ),
        share=0.05,
    )
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("window_article", "Sliding window of the article", CASES, scale)
