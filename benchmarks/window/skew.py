"""One key holds 90 % of the rows: the operator by itself, and the key split into parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from benchmarks.common.rounds import DUCKDB, POLARS, Bound
from benchmarks.common.spark import session
from benchmarks.common.verdict import judge
from benchmarks.report import Result
from benchmarks.window import parts
from benchmarks.window import queries as q
from benchmarks.window.data import SKEWED
from benchmarks.window.run import Case, measure, notes

CASE = Case(
    name="10 M, one key holds 90 %, 1,000 preceding",
    shape=SKEWED,
    question=q.Question("k", "ts", (("sum", "value"), ("min", "value"), ("avg", "value")), rows=1_000),
    peers=(q.STOCK, q.SEGMENT_TREE, DUCKDB, POLARS),
    bounds=(Bound((q.SEGMENT_TREE,), 12), Bound((DUCKDB,), 2)),
    share=0.05,
    hint="SKEW_WINDOW(4)",
)
JUDGED_PARTS = 4
LONGEST = 0.35  # at most this share of the longest task without a split
NO_WORSE = 1.0  # wall without a split / with
AIMED_AT = 1.3  # the same
EXTRA_CPU = 0.15  # less than


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.

    Returns:
        The operator against its peers, and a table over the number of parts.
    """
    spark = session()
    try:
        outcome = measure(spark, CASE, scale)
        rounds, question = parts.ROUNDS if scale == 1 else 1, CASE.question.scaled(scale)
        splits = parts.measure(spark, question, rounds)
    finally:
        spark.stop()
    result = judge("window_skew", "Sliding window, skewed key", [outcome], scale, notes([CASE]))
    return with_parts(result, splits, judged=scale == 1)


def with_parts(result: Result, splits: Sequence[parts.Split], judged: bool = True) -> Result:
    """Add the figures by number of parts.

    Args:
        result: The result of the operator next to its peers.
        splits: Figures in the order of their number of parts, from 1.
        judged: Whether to compare them with their bounds.
    """
    model = parts.Model.fit(splits)
    result.sections += [parts.section(splits, model), parts.prediction(model)]
    result.notes.append(parts.note(splits, model))
    result.data = {**result.data, "parts": [asdict(run) for run in splits], "model": asdict(model)}
    found, missed = _judge(splits) if judged else ([], [])
    missed += [
        f"**a hint of {run.parts} parts cut {'keys' if run.metrics else 'none'}**"
        for run in splits
        if bool(run.metrics) != (run.parts > 1)
    ]
    result.verdict = "; ".join(filter(None, [result.verdict, *found, *missed]))
    result.met = result.met and not missed
    return result


def _judge(runs: Sequence[parts.Split]) -> tuple[list[str], list[str]]:
    whole = runs[0]
    split = next(run for run in runs if run.parts == JUDGED_PARTS)
    longest, wall, cpu = (
        split.longest_s / whole.longest_s,
        whole.wall_s / split.wall_s,
        split.cpu_s / whole.cpu_s - 1,
    )
    checks = [
        (f"longest task {longest:.2f} of unsplit, at most {LONGEST:g}", longest <= LONGEST),
        (f"{wall:.2f} times as fast, at least {NO_WORSE:g}, aimed at {AIMED_AT:g}", wall >= NO_WORSE),
        (f"{cpu:+.1%} CPU, less than {EXTRA_CPU:+.0%}", cpu < EXTRA_CPU),
    ]
    found = [f"{JUDGED_PARTS} parts: {text}" for text, kept in checks if kept]
    return found, [f"**{JUDGED_PARTS} parts: {text}**" for text, kept in checks if not kept]
