"""Point in time with no key at all."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS, Bound
from benchmarks.last_join import queries as q
from benchmarks.last_join.data import Shape
from benchmarks.last_join.run import Case, run_group
from benchmarks.report import Result

CASES = [
    Case(
        name="1 M x 1 M",
        shape=Shape("keyless", 1_000_000, 1_000),
        question=q.Question(keyed=False, as_of=True),
        peers=(q.ASOF, q.UNION, DUCKDB, POLARS),
        bounds=(Bound((q.ASOF,), 20),),
    )
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("last_join_keyless", "LAST JOIN at a point in time, no key", CASES, scale)
