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
        scale: Of the data. Below 1 the bounds are not judged.

    Returns:
        Peak memory by case; not met if a bound is missed or Joinery's operator is not in a plan.
    """
    rows: list[list[str]] = []
    data: dict[str, dict[str, float]] = {}
    failed: list[str] = []
    for name, question in (("last row", ANY), ("as of", AS_OF)):
        first = None
        for matches in MATCHES:
            shape = Shape("multi", ROWS, ROWS // matches).scaled(scale)
            measured = peak(shape, q.last_join(question), joinery=True)
            first = first or measured
            case = f"{name}, 1 M, {matches:,} per key"
            _judge(case, OURS, measured, first, FLAT, rows, data, failed)
    asof = peak(LARGE.scaled(scale), q.spark_peers(AS_OF)[q.ASOF], joinery=False)
    ours = peak(LARGE.scaled(scale), q.last_join(AS_OF), joinery=True)
    _judge("as of, 10 M, 100 k keys", q.ASOF, asof, asof, None, rows, data, failed)
    _judge("as of, 10 M, 100 k keys", OURS, ours, asof, NO_HIGHER, rows, data, failed)
    missed = [text for text in failed if scale == 1 or "operator" in text]
    return Result(
        case="last_join_memory",
        title="LAST JOIN, peak memory",
        columns=[
            "case",
            "engine",
            "live heap, MiB",
            "execution memory, MiB",
            "live heap, ratio",
            "at most",
            "operator",
        ],
        rows=rows if scale == 1 else [[*row[:5], "", row[6]] for row in rows],
        verdict="; ".join(missed) or ("all bounds kept" if scale == 1 else f"at scale {scale:g} no bound is judged"),
        met=not missed,
        notes=[
            "Each query in a JVM of its own with 8 GB, after a run on a thousandth of the data.",
            "Live heap: the most in use right after a forced full collection, over and over while the query runs, less "
            "what the idle session holds. Execution memory: the most that Spark's memory manager had given out.",
            "Ratios are against one match per key, and in the last case against Spark's ASOF join.",
        ],
        data=data,
    )


def _judge(
    case: str, engine: str, measured: Peak, base: Peak, at_most: float | None,
    rows: list[list[str]], data: dict[str, dict[str, float]], failed: list[str],
) -> None:  # fmt: skip
    ratio = measured.live / max(base.live, 1.0)
    bound = f"{at_most:g}" if at_most else ""
    operator = ", ".join(measured.operators)
    rows.append([case, engine, f"{measured.live:.0f}", f"{measured.execution:.0f}", f"{ratio:.2f}", bound, operator])
    data.setdefault(case, {})[engine] = round(measured.live, 1)
    if at_most and ratio > at_most:
        failed.append(f"{case}: {ratio:.2f} times, at most {at_most:g}")
    if bool(operator) != (engine == OURS):
        failed.append(f"{case}: {engine} ran with operator {operator or 'none of Joinery'}")
