"""A stored range index that is loaded instead of built, if the side of the ranges has to be indexed."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from benchmarks.common.spark import Spark, node_metrics, operators, register, session
from benchmarks.common.store import refresh
from benchmarks.range_join import queries as q
from benchmarks.range_join.data import addresses, tables
from benchmarks.range_join.index import COLLECTED, seconds
from benchmarks.range_join.run import LARGE_INDEX, OPERATOR
from benchmarks.range_join.sums import RowSums
from benchmarks.report import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from spark_joinery.metadata import RangeIndexSpec

POINTS = 20_000_000
RANGES = 12_000_000
ROUNDS = 3
AT_LEAST = 5.0
STORED = "StoredRangeIndex"
EXCHANGE = "BroadcastExchange"
STAGES = ("time to collect", "time to build", "time to broadcast")
QUESTION = q.Question(left=True)
BUILT_NAME, LOADED_NAME, NO_STORE = (
    "built in the query",
    "loaded from the store",
    "without the store, as Joinery chooses",
)


@dataclass(frozen=True)
class Ran:
    """The figures of one way.

    Args:
        query_s: Median seconds of the query.
        index_s: Median seconds from the first collected or read row to the broadcast.
        size: The size of the index, as the operator says.
        operators: Joinery's operators in the plan.
        loaded: Whether the plan reads the store.
        problem: The difference of the answer; empty if it agrees.
    """

    query_s: float
    index_s: float
    size: str
    operators: list[str]
    loaded: bool
    problem: str


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data.

    Returns:
        Seconds of the query and of its index. They are not met if loading is less than `AT_LEAST` times as fast as
        building.
    """
    shape = addresses(POINTS, RANGES).scaled(scale)
    files = tables(shape)
    spark = session(COLLECTED | {"spark.joinery.store.timeout": "30s"})
    try:
        register(spark, files)
        with tempfile.TemporaryDirectory() as folder:
            refresh_s = refresh(spark, files["r"], index_spec(), folder)
            ran = measure(spark, ways(spark, folder), ROUNDS if scale == 1 else 1)
    finally:
        spark.stop()
    return result(ran, refresh_s, shape.left, shape.right, judged=scale == 1)


def index_spec() -> RangeIndexSpec:
    """The index of the ranges, with the columns that the query reads."""
    from spark_joinery.metadata import RangeIndexSpec

    return RangeIndexSpec(start="lo", end="hi", columns=["r_id", "label"])


def ways(spark: SparkSession, store: str) -> dict[str, Spark]:
    """The query with an index of the ranges, built or loaded, and by Joinery's own choice without the store."""
    hinted = q.range_join(QUESTION, "BROADCAST(r)")
    return {
        BUILT_NAME: Spark(spark, hinted, LARGE_INDEX, RowSums(), OPERATOR),
        LOADED_NAME: Spark(spark, hinted, LARGE_INDEX | {"spark.joinery.store": store}, RowSums(), OPERATOR),
        NO_STORE: Spark(spark, q.range_join(QUESTION), LARGE_INDEX, RowSums(), OPERATOR),
    }


def measure(spark: SparkSession, ways: dict[str, Spark], rounds: int) -> dict[str, Ran]:
    """Run each way in turn, after their answers were compared."""
    sums = {name: way.check().digest for name, way in ways.items()}
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    last = {}
    for _ in range(rounds):
        for name, way in ways.items():
            last[name] = way.answer()
            stages = node_metrics(spark, EXCHANGE)
            runs[name].append((last[name].seconds, sum(seconds(stages.get(stage, "0 ms")) for stage in STAGES)))
    return {
        name: Ran(
            query_s=statistics.median(query for query, _ in runs[name]),
            index_s=statistics.median(index for _, index in runs[name]),
            size=last[name].metrics.get("index size", ""),
            operators=operators(last[name].plan),
            loaded=STORED in last[name].plan,
            problem="" if sums[name] == sums[BUILT_NAME] else "gives another answer",
        )
        for name in ways
    }


def result(ran: dict[str, Ran], refresh_s: float, points: int, ranges: int, judged: bool) -> Result:
    """The page."""
    built, loaded = ran[BUILT_NAME], ran[LOADED_NAME]
    ratio = built.index_s / loaded.index_s if loaded.index_s else 0.0
    problems = [f"{name} {one.problem}" for name, one in ran.items() if one.problem]
    problems += [f"{name}: no {OPERATOR}" for name, one in ran.items() if OPERATOR not in one.operators]
    problems += [f"{name}: the store is {'not ' * (not one.loaded)}read" for name, one in _mistaken(ran)]
    if judged and ratio < AT_LEAST:
        problems.append(f"loaded {ratio:.1f} times as fast as built, at least {AT_LEAST:g}")
    return Result(
        case="range_stored",
        title=f"Range join of {points:,} points, {ranges:,} ranges indexed: built, or loaded from the store",
        columns=["the index is", "query, s", "times as long", "index, s", "times as long", "index size", "operator"],
        rows=[
            [
                *(name, f"{one.query_s:.2f}", f"{one.query_s / loaded.query_s:.2f}", f"{one.index_s:.2f}"),
                *(f"{one.index_s / loaded.index_s:.2f}" if loaded.index_s else "", one.size),
                ", ".join([*one.operators, *([STORED] if one.loaded else [])]),
            ]
            for name, one in ran.items()
        ],
        verdict="; ".join(problems)
        or (f"loaded {ratio:.1f} times as fast as built, answers equal" if judged else "answers equal"),
        met=not problems,
        notes=[
            f"Medians of {ROUNDS} rounds, each way in turn, after the answers were compared. A LEFT JOIN that gives "
            "out all points, which are more than the driver should hold: the ranges are what has to be indexed. A "
            "hint names that side, and an index may take 4 GB.",
            "Index: collecting the rows, building, and sending it to the executors, by the metrics of the broadcast; "
            "of a stored one the reading of its files and their checksums.",
            f"The nightly job took {refresh_s:.0f} s to write the index.",
        ],
        data={name: asdict(one) for name, one in ran.items()},
    )


def _mistaken(ran: dict[str, Ran]) -> Sequence[tuple[str, Ran]]:
    """Ways that read the store and should not, or the other way round."""
    return [(name, one) for name, one in ran.items() if one.loaded != (name == LOADED_NAME)]
