"""Peak memory: flat from 1 to 10,000 matches per key, and no higher than Spark's ASOF join."""

from __future__ import annotations

from benchmarks.common.rounds import OURS
from benchmarks.last_join import queries as q
from benchmarks.last_join.data import Shape
from benchmarks.last_join.heap import Peak, peak
from benchmarks.report import Result

ROWS = 1_000_000
MATCHES = (1, 10, 100, 1_000, 10_000)
FLAT = 1.2  # at most, against one match per key
NO_HIGHER = 1.05  # two runs of the same query differ by as much
LARGE = Shape("as_of", 10_000_000, 100_000)
ANY = q.Question(keyed=True, as_of=False)
AS_OF = q.Question(keyed=True, as_of=True)


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data. Below 1 the bounds are not judged.

    Returns:
        Peak memory by case; not met if a bound is missed or Joinery's operator is not in a plan.
    """
    table = _Table()
    for name, question in (("last row", ANY), ("as of", AS_OF)):
        first = None
        for matches in MATCHES:
            shape = Shape("multi", ROWS, ROWS // matches).scaled(scale)
            measured = peak(shape, q.last_join(question), joinery=True)
            first = first or measured
            table.add(f"{name}, 1 M, {matches:,} per key", OURS, measured, first, FLAT)
    asof = peak(LARGE.scaled(scale), q.spark_peers(AS_OF)[q.ASOF], joinery=False)
    ours = peak(LARGE.scaled(scale), q.last_join(AS_OF), joinery=True)
    table.add("as of, 10 M, 100 k keys", q.ASOF, asof, asof, None)
    table.add("as of, 10 M, 100 k keys", OURS, ours, asof, NO_HIGHER)
    missed = [text for text in table.failed if scale == 1 or "operator" in text]
    return Result(
        case="last_join_memory",
        title="LAST JOIN, peak memory of a query in a fresh JVM",
        columns=[
            "case",
            "engine",
            "live heap, MiB",
            "execution memory, MiB",
            "live heap, ratio",
            "at most",
            "operator",
        ],
        rows=table.rows if scale == 1 else [[*row[:5], "", row[6]] for row in table.rows],
        verdict="; ".join(missed) or ("all bounds kept" if scale == 1 else f"at scale {scale:g} no bound is judged"),
        met=not missed,
        notes=[
            "Each query in a JVM of its own with 8 GB, after a run on a thousandth of the data.",
            "Live heap: the most in use right after a forced full collection, over and over while the query runs, less "
            "what the idle session holds. Execution memory: the most that Spark's memory manager had given out.",
            "Ratios are against one match per key, and in the last case against Spark's ASOF join.",
            "At Spark's defaults.",
        ],
        data=table.data,
    )


class _Table:
    """Rows, figures and what failed."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.data: dict[str, dict[str, float]] = {}
        self.failed: list[str] = []

    def add(self, case: str, engine: str, measured: Peak, base: Peak, at_most: float | None) -> None:
        """Add an engine's peaks.

        Args:
            case: The case in words.
            engine: Its name.
            measured: Its peaks.
            base: The peaks to divide them by.
            at_most: The largest ratio; None if the engine has no bound.
        """
        ratio = measured.live / max(base.live, 1.0)
        cells = [f"{measured.live:.0f}", f"{measured.execution:.0f}", f"{ratio:.2f}"]
        operators = ", ".join(measured.operators)
        self.rows.append([case, engine, *cells, f"{at_most:g}" if at_most else "", operators])
        self.data.setdefault(case, {})[engine] = round(measured.live, 1)
        if at_most and ratio > at_most:
            self.failed.append(f"{case}: {ratio:.2f} times, at most {at_most:g}")
        if bool(measured.operators) != (engine == OURS):
            self.failed.append(f"{case}: {engine} ran with operator {operators or 'none of Joinery'}")
