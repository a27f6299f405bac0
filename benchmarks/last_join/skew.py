"""Point in time with one key that holds half of both tables."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS, Bound
from benchmarks.last_join import queries as q
from benchmarks.last_join.data import Shape
from benchmarks.last_join.run import Case, run_group
from benchmarks.report import Result

CASES = [
    Case(
        name="5 M, one key holds half",
        shape=Shape("skew", 5_000_000, 50_000, hot=True),
        question=q.Question(keyed=True, as_of=True),
        peers=(q.ASOF, q.UNION, DUCKDB, POLARS),
        bounds=(Bound((q.ASOF,), 20), Bound((q.UNION,), 4), Bound((DUCKDB,), 0.4)),
        idle_tail=0.1,
    )
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("last_join_skew", "LAST JOIN at a point in time, skewed key", CASES, scale)
