"""Two sides of 1 M intervals without an equality, neither of them broadcast, with much and little memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from benchmarks.common.spark import Spark, operators, register, session
from benchmarks.range_join import queries as q
from benchmarks.range_join.data import OVERLAPPING, tables
from benchmarks.range_join.run import SHUFFLED_OPERATOR
from benchmarks.range_join.sums import RowSums, Sums
from benchmarks.report import Result

NO_INDEX_ON_DRIVER = {"spark.joinery.rangeJoin.maxBroadcast": "1"}
DRIVER = {"spark.driver.memory": "2g"}
SESSIONS = {
    "2 GB": DRIVER,
    "2 GB, a sixtieth of Spark's memory": DRIVER | {"spark.memory.fraction": "0.01"},
}
PARTS = "tasks with several index parts"
METRICS = ("index parts", PARTS, "spill size")


@dataclass(frozen=True)
class Ran:
    """The figures of a session.

    Args:
        seconds: Seconds of one run, after a first run that computed the sums.
        sums: Sums over the answer.
        metrics: Metrics of the operator.
        operators: Joinery's operators in the plan.
    """

    seconds: float
    sums: Sums
    metrics: dict[str, str]
    operators: list[str]


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.

    Returns:
        Seconds and metrics by session. They are not met if the answers differ, or if no task was short of memory in the
        second session.
    """
    ran = {name: _ran(settings, scale) for name, settings in SESSIONS.items()}
    usual, scarce = ran.values()
    problems = [f"{name}: no {SHUFFLED_OPERATOR}" for name, one in ran.items() if one.operators != [SHUFFLED_OPERATOR]]
    if usual.sums != scarce.sums:
        problems.append("the answers differ")
    if scarce.metrics.get(PARTS, "0") == "0":
        problems.append("no task was short of memory")
    return Result(
        case="range_memory",
        title="Range join of 1 M x 1 M intervals, nothing broadcast, memory cut",
        columns=["session", "rows", "s", *METRICS],
        rows=[
            [name, f"{one.sums.all_rows[0]:,}", f"{one.seconds:.1f}", *(one.metrics.get(m, "") for m in METRICS)]
            for name, one in ran.items()
        ],
        verdict="; ".join(problems) or "equal answers; the second session indexed part by part",
        met=not problems,
        notes=[
            "No key and no broadcast: the range is cut into parts, each task indexes its own. Counts, and sums over "
            "every column and over pairs of ids are compared.",
            f"Settings: {NO_INDEX_ON_DRIVER}; {SESSIONS}.",
        ],
        data={name: asdict(one) for name, one in ran.items()},
    )


def _ran(settings: dict[str, str], scale: float) -> Ran:
    spark = session(settings)
    try:
        register(spark, tables(OVERLAPPING.scaled(scale)))
        query = Spark(
            spark,
            q.range_join(q.Question(overlap=True)),
            NO_INDEX_ON_DRIVER,
            RowSums(),
            SHUFFLED_OPERATOR,
        )
        sums = query.check().digest
        timed = query.answer()
        return Ran(timed.seconds, sums, dict(timed.metrics), operators(timed.plan))
    finally:
        spark.stop()
