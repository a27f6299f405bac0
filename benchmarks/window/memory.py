"""Peak execution memory by the size of the frame, for an aggregate that adds up and one that does not."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from benchmarks.common.cores import MIB, POLLING, execution_memory, tasks
from benchmarks.common.rounds import FLOOR
from benchmarks.common.spark import Spark, operators, register, session, stock
from benchmarks.report import Result
from benchmarks.window import queries as q
from benchmarks.window.data import SKEWED, tables
from benchmarks.window.run import OPERATOR

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FRAMES = tuple(10**power for power in range(1, 7))
FUNCTIONS = ("sum", "max")


@dataclass(frozen=True)
class Peak:
    """The memory of a query at its peak.

    Args:
        task: MiB by the metric of the largest task of the last stage.
        sampled: The most MiB that all tasks held together, at any moment of any stage.
        spilled: The spill size of the operator.
        operators: Joinery's operators in its plan.
    """

    task: float
    sampled: float
    spilled: str
    operators: list[str]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data, not of the frames.

    Returns:
        Memory by aggregate and frame. It is not met if Joinery's operator is not in a plan.
    """
    spark = session(POLLING)
    try:
        register(spark, tables(SKEWED.scaled(scale)))
        floor = _peak(spark, Spark(spark, q.floors(_question(FUNCTIONS[0], FRAMES[0]))[FLOOR], stock(spark)))
        peaks = {name: {frame: _peak(spark, _window(spark, name, frame)) for frame in FRAMES} for name in FUNCTIONS}
    finally:
        spark.stop()
    stock_plans = [
        f"{name}({frame:,})" for name, of in peaks.items() for frame, peak in of.items() if not peak.operators
    ]
    return Result(
        case="window_memory",
        title=f"Sliding window over {SKEWED.scaled(scale).rows:,} rows, 90 % of them one key, peak memory",
        columns=["aggregate", "frame, rows", "task, MiB", f"above {FRAMES[0]} rows", "sampled, MiB", "spill size"],
        rows=[
            [FLOOR, "", f"{floor.task:.1f}", "", f"{floor.sampled:.0f}", ""],
            *(_row(name, frame, peak, of[FRAMES[0]]) for name, of in peaks.items() for frame, peak in of.items()),
        ],
        verdict=f"no operator in {', '.join(stock_plans)}"
        if stock_plans
        else "the operator is in every plan; no bound",
        met=not stock_plans,
        notes=[
            "Task: peak execution memory, the metric of the largest task of the window's stage, which sorts as well. "
            "Sampled: the most that Spark's memory manager had given out to all tasks of any stage, seen every 10 ms.",
            "8 GB, two cores, the hot key left whole. The floor scans, shuffles and sorts the same columns with stock "
            "Spark, and computes no window.",
        ],
        data={name: {str(frame): asdict(peak) for frame, peak in of.items()} for name, of in peaks.items()}
        | {FLOOR: asdict(floor)},
    )


def _row(name: str, frame: int, peak: Peak, smallest: Peak) -> list[str]:
    above = f"{peak.task - smallest.task:+.1f}"
    return [name, f"{frame:,}", f"{peak.task:.1f}", above, f"{peak.sampled:.0f}", peak.spilled]


def _window(spark: SparkSession, function: str, frame: int) -> Spark:
    return Spark(spark, q.window(_question(function, frame)), watch=OPERATOR)


def _question(function: str, frame: int) -> q.Question:
    return q.Question("k", "ts", ((function, "value"),), rows=frame - 1)


def _peak(spark: SparkSession, query: Spark) -> Peak:
    run = query.answer()
    ran = tasks(spark, query.group)
    last = max(task.stage for task in ran)
    return Peak(
        task=max(task.peak_memory for task in ran if task.stage == last) / MIB,
        sampled=execution_memory(spark, query.group),
        spilled=run.metrics.get("spill size", ""),
        operators=operators(run.plan),
    )
