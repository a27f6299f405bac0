"""Run a group of LAST JOIN cases against their peers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common import rounds
from benchmarks.common.engines import DuckDB, Engine, Polars, polars_library
from benchmarks.common.rounds import DUCKDB, NO_CODEGEN, OURS, POLARS, Outcome, compare
from benchmarks.common.spark import Spark, register, stock
from benchmarks.common.verdict import NOTES, run_cases
from benchmarks.last_join import queries as q
from benchmarks.last_join.checksum import Checksum
from benchmarks.last_join.data import Shape, tables
from benchmarks.report import Result

if TYPE_CHECKING:
    import polars
    from pyspark.sql import SparkSession

OWN_NOTES = [
    "Count, NULLs and sums over every column of `r` are compared before anything is timed; the answers have no ties.",
    "The floors scan both tables and shuffle them by key, and do not join.",
]


@dataclass(frozen=True, kw_only=True)
class Case(rounds.Case):
    """A question over two tables.

    Args:
        shape: The shape of the tables.
        question: The question.
        peers: Names of stock Spark's queries, DuckDB and Polars.
        hints: Forms to measure, next to the automatic choice.
    """

    shape: Shape
    question: q.Question
    peers: tuple[str, ...]
    hints: tuple[str, ...] = ()


def run_group(name: str, title: str, cases: Sequence[Case], scale: float) -> Result:
    """Run LAST JOIN cases; see `run_cases`."""
    return run_cases(name, title, cases, measure, scale, NOTES + OWN_NOTES)


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
    files = tables(case.shape.scaled(scale))
    register(spark, files)
    outcome = compare(case, _engines(spark, case, files), Checksum(), scale, files if first_runs else None)
    asof = outcome.engines.get(q.ASOF)
    if asof and asof.runs[-1].plan and "SortMergeAsOfJoin" not in asof.runs[-1].plan:
        asof.problem = f"{q.ASOF} ran without SortMergeAsOfJoin"
    return outcome


def _engines(spark: SparkSession, case: Case, files: Mapping[str, Path]) -> dict[str, Engine]:
    def engine(sql: str, settings: Mapping[str, str] | None = None) -> Spark:
        return Spark(spark, sql, settings, digest)

    digest = Checksum()
    off = stock(spark)
    peers = q.spark_peers(case.question)
    engines: dict[str, Engine] = {
        OURS: engine(q.last_join(case.question)),
        NO_CODEGEN: engine(q.last_join(case.question), {"spark.sql.codegen.wholeStage": "false"}),
    }
    if case.idle_tail is not None:
        whole = {"spark.joinery.lastJoin.skewSplit.enabled": "false"}
        engines[q.NO_SPLIT] = engine(q.last_join(case.question), whole)
    for hint in case.hints:
        engines[f"{OURS}, {hint} hint"] = engine(q.last_join(case.question, hint))
    for name in case.peers:
        if name == DUCKDB:
            engines[name] = DuckDB(q.duckdb(case.question), files, digest)
        elif name == POLARS:
            engines[name] = Polars(_polars(case.question, files), digest)
        else:
            engines[name] = engine(peers[name], off)
    return engines | {name: engine(sql, off) for name, sql in q.floors(case.question).items()}


def _polars(question: q.Question, files: Mapping[str, Path]) -> polars.LazyFrame:
    pl = polars_library()
    left, right = (pl.scan_parquet(f"{files[name]}/*.parquet") for name in ("l", "r"))
    right = right.rename({name: f"r_{name}" for name in ("ts", "value", "qty", "note")})
    if question.as_of:
        right = right if question.keyed else right.drop("k")
        joined: polars.LazyFrame = left.sort("ts").join_asof(
            right.sort("r_ts"), left_on="ts", right_on="r_ts", by="k" if question.keyed else None, coalesce=False,
            check_sortedness=False,  # just sorted
        )  # fmt: skip
        return joined
    last = right.group_by("k").agg(pl.exclude("k").get(pl.col("r_ts").arg_max()))
    found: polars.LazyFrame = left.join(last, on="k", how="left")
    return found
