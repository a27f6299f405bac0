"""Intervals that an index is of little use for: small tables, so that comparing all pairs is no matter of hours."""

from __future__ import annotations

from benchmarks.range_join import queries as q
from benchmarks.range_join.data import IDENTICAL, ONE_LONG, STAGGERED
from benchmarks.range_join.run import Case, at_least, run_group
from benchmarks.report import Result

SHAPES = {"all overlap one long interval": ONE_LONG, "all identical": IDENTICAL, "staggered": STAGGERED}
CASES = [
    Case(
        name=f"{shape.left:,} x {shape.right:,}, {name}",
        shape=shape,
        question=q.Question(overlap=True),
        peers=(q.NESTED_LOOP,),
        bounds=(at_least(0.9, q.NESTED_LOOP),),
        indexed=("r",),
    )
    for name, shape in SHAPES.items()
]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.
    """
    return run_group("range_worst", "Range join, where an index is of little use", CASES, scale)
