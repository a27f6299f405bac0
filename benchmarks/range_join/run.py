"""Run a group of range join cases against their peers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common import rounds
from benchmarks.common.engines import DuckDB, Engine, Fraction, Polars
from benchmarks.common.rounds import DUCKDB, NO_CODEGEN, OURS, POLARS, Bound, Outcome, compare
from benchmarks.common.spark import Spark, register, stock
from benchmarks.common.verdict import NOTES, run_cases
from benchmarks.range_join import queries as q
from benchmarks.range_join.data import Shape, tables
from benchmarks.range_join.sums import RowSums
from benchmarks.report import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPERATOR = "BroadcastRangeJoin"
SHUFFLED_OPERATOR = "ShuffledRangeJoin"
SMALL_SCALE_SHARE = 0.5  # share of the rows for an extrapolated peer at a small scale, because a few rows take no time
FIRST = "l_first"  # the view with those rows
# Allows an index of up to 4 GB on a side that a hint names.
LARGE_INDEX = {"spark.joinery.rangeJoin.maxBroadcast": "4g"}
SPARK_PLANS = {
    q.NESTED_LOOP: "BroadcastNestedLoopJoin",
    q.HASH_JOIN: "BroadcastHashJoin",
    q.MERGE_JOIN: "SortMergeJoin",
}
NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
OWN_NOTES = [
    "Counts, and sums over every column and over pairs of ids are compared before anything is timed.",
    "Joinery chooses the side that is indexed by itself in its first row; in others a hint BROADCAST names it, "
    "and an index may take 4 GB. Shuffled, and Spark's sort merge join: with spark.sql.autoBroadcastJoinThreshold -1.",
    "The floors scan the columns of the query with stock Spark, one shuffles them by key, and do not join.",
]
BINNED = (
    "Hand-binned: stock Spark joins by the number of a bin, each interval repeated for all of its bins; two intervals "
    "meet in the first bin that they share, so that nothing has to be made distinct. How wide bins should be "
    "depends on the data: several widths are shown, and the broadcast of a side for the one in the middle."
)
EXTRAPOLATED = (
    "Extrapolated: {name} ran over {share:.3%} of the rows of `l`, taken at random, which it broadcasts by a hint "
    "(stock Spark would compute a Cartesian product). Few rows stay in the processor's cache, which makes the time too "
    "low; the scan of `r` is multiplied as well, which makes it too high. It does not run in a fresh JVM."
)


@dataclass(frozen=True, kw_only=True)
class Case(rounds.Case):
    """A question over two tables.

    Args:
        shape: The shape of the tables.
        question: The question.
        peers: Names of stock Spark's operators, DuckDB and Polars.
        binned: Bins of stock Spark's joins by bins.
        share: The share of the rows of `l` for the nested loop join; all rows when None.
        indexed: Sides to index, next to the automatic choice.
        shuffled: Whether to run Joinery without a broadcast, too, which needs a key.
        broadcast: Whether Spark may broadcast a side, with Joinery or without.
    """

    shape: Shape
    question: q.Question
    peers: tuple[str, ...]
    binned: tuple[q.Binned, ...] = ()
    share: float | None = None
    indexed: tuple[str, ...] = ()
    shuffled: bool = False
    broadcast: bool = True


def at_least(ratio: float, *peers: str | q.Binned) -> Bound:
    """A bound on warm runs.

    Args:
        ratio: The fastest peer's median divided by Joinery's.
        peers: Names of engines, and ways to join by bins.
    """
    names = tuple(peer.name if isinstance(peer, q.Binned) else peer for peer in peers)
    return Bound(names, ratio)


def run_group(name: str, title: str, cases: Sequence[Case], scale: float) -> Result:
    """Run range join cases; see `run_cases`."""
    shares = sorted({case.share for case in cases if case.share})
    binned = [BINNED] if any(case.binned for case in cases) else []
    extrapolated = [EXTRAPOLATED.format(name=q.NESTED_LOOP, share=share) for share in shares]
    return run_cases(name, title, cases, measure, scale, NOTES + OWN_NOTES + binned + extrapolated)


def measure(spark: SparkSession, case: Case, scale: float = 1, first_runs: bool = True) -> Outcome:
    """Run a case.

    Args:
        spark: The session for Joinery and stock Spark.
        case: The case to run.
        scale: Scale of the data.
        first_runs: Whether to run Joinery and its Spark peers in fresh JVMs, too.

    Returns:
        Times, operators and disagreements.
    """
    shape = case.shape.scaled(scale)
    files = tables(shape)
    register(spark, files)
    first = 0
    if case.share:
        first = max(int(shape.left * (case.share if scale == 1 else SMALL_SCALE_SHARE)), 1)
        spark.table("l").where(f"id < {first}").createOrReplaceTempView(FIRST)
    digest = RowSums(first)
    outcome = compare(case, _engines(spark, case, shape, files, digest), digest, scale, files if first_runs else None)
    for name, operator in SPARK_PLANS.items():
        measured = outcome.engines.get(name)
        if measured and measured.runs[-1].plan and operator not in measured.runs[-1].plan:
            measured.problem = f"{name} ran without {operator}"
    return outcome


def _engines(
    spark: SparkSession, case: Case, shape: Shape, files: Mapping[str, Path], digest: RowSums
) -> dict[str, Engine]:
    allowed, operator = ({}, OPERATOR) if case.broadcast else (NO_BROADCAST, SHUFFLED_OPERATOR)

    def engine(sql: str, settings: Mapping[str, str] | None = None) -> Spark:
        return Spark(spark, sql, allowed | dict(settings or {}), digest, operator)

    off = stock(spark)
    sql = q.range_join(case.question)
    engines: dict[str, Engine] = {
        OURS: engine(sql),
        NO_CODEGEN: engine(sql, {"spark.sql.codegen.wholeStage": "false"}),
    }
    for side in case.indexed:
        hinted = q.range_join(case.question, f"BROADCAST({side})")
        engines[f"{OURS}, {side} indexed"] = engine(hinted, LARGE_INDEX)
    if case.shuffled:
        engines[q.SHUFFLED] = engine(sql, NO_BROADCAST)
    for name in case.peers:
        if name == DUCKDB:
            engines[name] = DuckDB(sql, files, digest)
        elif name == POLARS:
            engines[name] = Polars(q.polars_query(case.question, files), digest)
        elif digest.first and name == q.NESTED_LOOP:
            some = q.range_join(case.question, "BROADCAST(l)", FIRST)
            some_digest = RowSums(digest.first, whole=False)
            engines[name] = Fraction(Spark(spark, some, off, some_digest), digest.first / shape.left)
        else:
            engines[name] = engine(sql, off | (NO_BROADCAST if name == q.MERGE_JOIN else {}))
    engines |= {binned.name: engine(binned.query(case.question), off) for binned in case.binned}
    return engines | {name: engine(floor, off) for name, floor in q.floors(case.question).items()}
