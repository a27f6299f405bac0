"""Peak execution memory against the size of the frame, for an aggregate that adds up and one that does not."""

from __future__ import annotations

from benchmarks.common.cores import MIB, POLLING, execution_memory, tasks
from benchmarks.common.rounds import FLOOR
from benchmarks.common.spark import Spark, operators, register, session, stock
from benchmarks.report import Result
from benchmarks.window import queries as q
from benchmarks.window.data import SKEWED, tables
from benchmarks.window.run import SETTINGS

FRAMES = tuple(10**power for power in range(1, 7))
FUNCTIONS = ("sum", "max")


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Of the data, not of the frames.

    Returns:
        Memory by aggregate and frame; not met if Joinery's operator is not in a plan.
    """
    spark = session(POLLING)
    try:
        register(spark, tables(SKEWED.scaled(scale)))
        rows: list[list[str]] = []
        data: dict[str, float] = {}
        declined = []

        def measure(name: str, frame: str, query: Spark, base: int = 0) -> int:
            run = query.answer()
            ran = tasks(spark, query.group)
            last = max(task.stage for task in ran)
            peak = max(task.peak_memory for task in ran if task.stage == last)
            sampled = execution_memory(spark, query.group)
            spilled = run.metrics.get("spill size", "")
            above = f"{(peak - base) / MIB:+.1f}" if base else ""
            rows.append([name, frame, f"{peak / MIB:.1f}", above, f"{sampled:.0f}", spilled])
            data[f"{name} {frame}".strip()] = peak / MIB
            if (name in FUNCTIONS) != bool(operators(run.plan)):
                declined.append(f"{name} {frame}: {', '.join(operators(run.plan)) or 'no operator of Joinery'}")
            return peak

        question = q.Question("k", "ts", (("sum", "value"),))
        measure(FLOOR, "", Spark(spark, q.floors(question)[FLOOR], stock(spark)))
        for function in FUNCTIONS:
            smallest = 0
            for frame in FRAMES:
                question = q.Question("k", "ts", ((function, "value"),), rows=frame - 1)
                measure(
                    function, f"{frame:,}", Spark(spark, q.window(question), SETTINGS[q.UNSPLIT], watch="SlidingWindow")
                )
    finally:
        spark.stop()
    return Result(
        case="window_memory",
        title=f"Sliding window over {SKEWED.scaled(scale).rows:,} rows, 90 % of them one key, peak memory",
        columns=[
            "aggregate",
            "frame, rows",
            "peak execution memory, MiB",
            f"above a frame of {FRAMES[0]}",
            "sampled, MiB",
            "spill size",
        ],
        rows=rows,
        verdict="; ".join(declined) or "the operator is in every plan; no bound is set",
        met=not declined,
        notes=[
            "Peak execution memory: the task metric of the largest task of the window's stage, its sort included. "
            "Sampled: the most that Spark's memory manager had given out to all tasks of any stage. 8 GB, two cores, "
            "the hot key left whole.",
            "The floor scans, shuffles and sorts the same columns with stock Spark, and computes no window.",
        ],
        data=data,
    )
