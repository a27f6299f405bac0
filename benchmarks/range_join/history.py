"""The version that was valid at a time, where one key has half of the facts and half of the versions."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS
from benchmarks.range_join import queries as q
from benchmarks.range_join.data import HISTORY
from benchmarks.range_join.run import Case, at_least, run_group
from benchmarks.report import Result

CASES = [
    Case(
        name="5 M facts, 50 k intervals, one key has half of both, no side is broadcast",
        shape=HISTORY,
        question=q.Question(keyed=True),
        peers=(q.MERGE_JOIN, DUCKDB, POLARS),
        broadcast=False,
        bounds=(at_least(5, q.MERGE_JOIN),),
        idle_tail=0.1,
    )
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("range_history", "Range join with an equality, a key with a long history", CASES, scale)
