"""Peak execution memory against the size of the frame, for an aggregate that adds up and one that does not."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from benchmarks.common.cores import MIB, POLLING, execution_memory, tasks
from benchmarks.common.rounds import FLOOR
from benchmarks.common.spark import TUNED, Spark, operators, register, session, stock
from benchmarks.common.verdict import AT_TUNED
from benchmarks.report import Result
from benchmarks.window import queries as q
from benchmarks.window.data import SKEWED, tables
from benchmarks.window.run import OPERATOR, SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FRAMES = tuple(10**power for power in range(1, 7))
FUNCTIONS = ("sum", "max")


@dataclass(frozen=True)
class Peak:
    """What a query held at its peak.

    Args:
        task: MiB, the task metric of the largest task of the last stage.
        sampled: MiB that Spark's memory manager had given out, over all tasks, at the worst moment of any stage.
        spilled: By the operator.
        operators: Joinery's in its plan.
    """

    task: float
    sampled: float
    spilled: str
    operators: list[str]


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
        floor = _peaks(spark, Spark(spark, q.floors(_question(FUNCTIONS[0], FRAMES[0]))[FLOOR], stock(spark)))
        peaks = {name: {frame: _peaks(spark, _window(spark, name, frame)) for frame in FRAMES} for name in FUNCTIONS}
    finally:
        spark.stop()
    stock_plans = [
        f"{name}({frame:,})"
        for name, of in peaks.items()
        for frame, both in of.items()
        if not all(at.operators for at in both)
    ]
    return Result(
        case="window_memory",
        title=f"Sliding window over {SKEWED.scaled(scale).rows:,} rows, 90 % of them one key, peak memory",
        columns=[
            *("aggregate", "frame, rows", "task, MiB", f"above {FRAMES[0]} rows", "sampled, MiB", "spill size"),
            *(f"at {AT_TUNED}: task, MiB", f"above {FRAMES[0]} rows", "sampled, MiB", "spill size"),
        ],
        rows=[
            [FLOOR, "", *(cell for at in floor for cell in (f"{at.task:.1f}", "", f"{at.sampled:.0f}", ""))],
            *(_row(name, frame, at, of[FRAMES[0]]) for name, of in peaks.items() for frame, at in of.items()),
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
        data={name: {str(frame): _figures(both) for frame, both in of.items()} for name, of in peaks.items()}
        | {FLOOR: _figures(floor)},
    )


def _row(name: str, frame: int, both: tuple[Peak, Peak], smallest: tuple[Peak, Peak]) -> list[str]:
    cells = [
        cell
        for at, least in zip(both, smallest, strict=True)
        for cell in (f"{at.task:.1f}", f"{at.task - least.task:+.1f}", f"{at.sampled:.0f}", at.spilled)
    ]
    return [name, f"{frame:,}", *cells]


def _figures(both: tuple[Peak, Peak]) -> dict[str, object]:
    return {"default": asdict(both[0]), "tuned": asdict(both[1])}


def _window(spark: SparkSession, function: str, frame: int) -> Spark:
    return Spark(spark, q.window(_question(function, frame)), SETTINGS[q.UNSPLIT], watch=OPERATOR)


def _question(function: str, frame: int) -> q.Question:
    return q.Question("k", "ts", ((function, "value"),), rows=frame - 1)


def _peaks(spark: SparkSession, query: Spark) -> tuple[Peak, Peak]:
    """At Spark's defaults and at `TUNED`."""
    return _peak(spark, query), _peak(spark, query.with_settings(TUNED))


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
