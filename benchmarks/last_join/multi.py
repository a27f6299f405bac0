"""No condition on time: 1 to 1,000 matches per key."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS, Bound
from benchmarks.last_join import queries as q
from benchmarks.last_join.data import Shape
from benchmarks.last_join.run import Case, run_group
from benchmarks.report import Result

REWRITES = (q.MAX_BY, q.ROW_NUMBER_FIRST)
PEERS = (q.DEDUP, q.ROW_NUMBER, *REWRITES, DUCKDB, POLARS)
ROWS = 1_000_000
BOUNDS = {
    1: (Bound((q.DEDUP,), 2),),
    10: (Bound(REWRITES, 1),),
    100: (Bound((q.DEDUP,), 7), Bound(REWRITES, 3)),
    1_000: (Bound((q.DEDUP,), 40),),
}
CASES = [
    Case(
        name=f"1 M, {matches:,} per key",
        shape=Shape("multi", ROWS, ROWS // matches),
        question=q.Question(keyed=True, as_of=False),
        peers=PEERS,
        bounds=bounds,
        hints=("BROADCAST", "SHUFFLE_HASH", "MERGE"),
    )
    for matches, bounds in BOUNDS.items()
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("last_join_multi", "LAST JOIN, many matches per key", CASES, scale)
