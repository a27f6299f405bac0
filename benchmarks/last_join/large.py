"""The last row at or before each left row's time: 10 M rows, about 100 per key."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS, Bound
from benchmarks.last_join import queries as q
from benchmarks.last_join.data import Shape
from benchmarks.last_join.point_in_time import QUESTION
from benchmarks.last_join.run import Case, run_group
from benchmarks.report import Result

CASES = [
    Case(
        name="10 M, 100 k keys",
        shape=Shape("as_of", 10_000_000, 100_000),
        question=QUESTION,
        peers=(q.ASOF, q.UNION, DUCKDB, POLARS),
        bounds=(Bound((q.ASOF,), 5), Bound((DUCKDB,), 0.5)),
        hints=("SHUFFLE_HASH", "MERGE"),
    ),
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("last_join_large", "LAST JOIN at a point in time, 10 M rows", CASES, scale)
