"""The last row at or before each left row's time, about 100 per key; `large` has the same of 10 M rows."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS, Bound
from benchmarks.last_join import queries as q
from benchmarks.last_join.data import Shape
from benchmarks.last_join.run import Case, run_group
from benchmarks.report import Result

QUESTION = q.Question(keyed=True, as_of=True)
CASES = [
    Case(
        name="1 M, 10 k keys",
        shape=Shape("as_of", 1_000_000, 10_000),
        question=QUESTION,
        peers=(q.DEDUP, q.ROW_NUMBER, q.ASOF, q.UNION, DUCKDB, POLARS),
        bounds=(
            Bound((q.ASOF,), 4),
            Bound((q.ASOF,), 2.5, kind="first"),
            Bound((q.UNION,), 3),
            Bound((DUCKDB,), 1 / 3),
        ),
        hints=("BROADCAST", "SHUFFLE_HASH", "MERGE"),
    ),
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("last_join_point_in_time", "LAST JOIN at a point in time", CASES, scale)
