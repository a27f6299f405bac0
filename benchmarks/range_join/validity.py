"""The version that was valid at a time: 5 M facts, 1,000 keys with 50 versions each, with an equality of the keys."""

from __future__ import annotations

from benchmarks.common.rounds import DUCKDB, POLARS
from benchmarks.range_join import queries as q
from benchmarks.range_join.data import HOT_VALIDITY, VALIDITY
from benchmarks.range_join.run import Case, at_least, run_group
from benchmarks.report import Result

CASES = [
    Case(
        name="5 M facts, 50 k intervals of 1,000 keys",
        shape=VALIDITY,
        question=q.Question(keyed=True),
        peers=(q.HASH_JOIN, q.MERGE_JOIN, DUCKDB, POLARS),
        bounds=(at_least(2, q.HASH_JOIN, q.MERGE_JOIN),),
        shuffled=True,
    ),
    Case(
        name="the same, one key has half of the facts, no side is broadcast",
        shape=HOT_VALIDITY,
        question=q.Question(keyed=True),
        peers=(q.MERGE_JOIN, DUCKDB, POLARS),
        bounds=(at_least(5, q.MERGE_JOIN),),
        broadcast=False,
        idle_tail=0.1,
    ),
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("range_validity", "Range join with an equality", CASES, scale)
