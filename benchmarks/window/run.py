"""Run a group of window cases against their peers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.common import rounds
from benchmarks.common.engines import DuckDB, Engine, Fraction, Polars
from benchmarks.common.rounds import DUCKDB, OURS, POLARS, Outcome, compare
from benchmarks.common.spark import Spark, register, stock
from benchmarks.common.verdict import NOTES, run_cases
from benchmarks.report import Result
from benchmarks.window import queries as q
from benchmarks.window.answers import RowByRow
from benchmarks.window.data import Shape, tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPERATOR = "SlidingWindow"
CUT_INTO = re.compile(r"CopyRows .*?, (\d+ parts)")
SMALL_SCALE_SHARE = 0.5  # share of the rows for an extrapolated peer at a small scale, because a few rows take no time
FIRST = "t_first"  # the view with those rows
TREE = "spark.sql.window.segmentTree.enabled"
TREE_FRAMES = "number of segment-tree frames prepared"
NO_CODEGEN = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
OWN_NOTES = [
    "The answers are compared row by row before anything is timed, sums and averages of doubles within n*eps*sum|x| "
    "over the n rows of a frame, everything else exactly; no two rows have the same time. Polars subtracts what leaves "
    "a frame and is allowed the error of that, N*eps times the largest sum over the N rows of the table.",
    "Spark default has all of Joinery and the segment tree switched off, Spark segment tree all of Joinery.",
    "The floor scans the columns of the query, shuffles them by key and sorts them, and computes no window.",
]
HINTED = (
    "With the hint {hint} Joinery takes a sample and counts rows, within the time measured, and cuts the hot key. "
    "Without the hint, and without a distribution in a store, the hot key is whole."
)
EXTRAPOLATED = (
    "Extrapolated: {name} ran over the first {share:.2%} of the rows by time, as its cost per row depends on the frame "
    "alone. Frames at the beginning of the data are short, which makes the time too low; what a query costs without "
    "its rows is multiplied as well, which makes it too high."
)


@dataclass(frozen=True, kw_only=True)
class Case(rounds.Case):
    """A question over a table.

    Args:
        shape: The shape of the table.
        question: The question.
        peers: Names of stock Spark's ways, DuckDB and Polars.
        share: The share of the rows for Spark's default; all rows when None.
        interpreted: Whether to run Joinery without generated code, too.
        floor: Whether to measure the floors.
        hint: A hint with which to run Joinery, too.
    """

    shape: Shape
    question: q.Question
    peers: tuple[str, ...]
    share: float | None = None
    interpreted: bool = True
    floor: bool = True
    hint: str = ""


def run_group(name: str, title: str, cases: Sequence[Case], scale: float) -> Result:
    """Run window cases; see `run_cases`."""
    return run_cases(name, title, cases, measure, scale, notes(cases))


def notes(cases: Sequence[Case]) -> list[str]:
    """Remarks for the page of the cases."""
    shares = {case.share for case in cases if case.share}
    hints = {case.hint for case in cases if case.hint}
    hinted = [HINTED.format(hint=hint) for hint in sorted(hints)]
    extrapolated = [EXTRAPOLATED.format(name=q.STOCK, share=share) for share in sorted(shares)]
    return NOTES + OWN_NOTES + hinted + extrapolated


def measure(spark: SparkSession, case: Case, scale: float = 1, first_runs: bool = True) -> Outcome:
    """Run a case.

    Args:
        spark: The session for Joinery and stock Spark.
        case: The case to run.
        scale: Scale of the data and of frames of rows.
        first_runs: Whether to run Joinery and its Spark peers in fresh JVMs, too.

    Returns:
        Times, operators and disagreements.
    """
    files = tables(case.shape.scaled(scale))
    register(spark, files)
    question = case.question.scaled(scale)
    engines = _engines(spark, case, question, files, scale)
    outcome = compare(case, engines, RowByRow(question), scale, files if first_runs else None)
    tree = outcome.engines.get(q.SEGMENT_TREE)
    if tree and scale == 1 and not tree.stopped() and tree.runs[-1].metrics.get(TREE_FRAMES, "0") == "0":
        tree.problem = f"{q.SEGMENT_TREE} ran without its segment tree"
    for measured in outcome.engines.values():
        parts = CUT_INTO.search(measured.runs[-1].plan)
        measured.engine.remark = parts[1] if parts else measured.engine.remark
    return outcome


def _engines(
    spark: SparkSession, case: Case, question: q.Question, files: Mapping[str, Path], scale: float
) -> dict[str, Engine]:
    digest = RowByRow(question)
    sql = q.window(question)
    off = stock(spark)
    default = off | {TREE: "false"}
    engines: dict[str, Engine] = {OURS: Spark(spark, sql, {}, digest, OPERATOR)}
    if case.interpreted:
        engines[q.NO_CODEGEN] = Spark(spark, sql, NO_CODEGEN, digest, OPERATOR)
    if case.hint:
        engines[f"{OURS}, {case.hint}"] = Spark(spark, q.window(question, case.hint), {}, digest, OPERATOR)
    for name in case.peers:
        if name == DUCKDB:
            engines[name] = DuckDB(sql, files, digest)
        elif name == POLARS:
            engines[name] = Polars(q.polars_query(question, files["t"]), digest)
        elif name == q.SEGMENT_TREE:
            engines[name] = Spark(spark, sql, off | {TREE: "true"}, digest, watch="Window")
        elif case.share:
            share = _first(spark, question, files["t"], case.share if scale == 1 else SMALL_SCALE_SHARE)
            some = Spark(spark, q.window(question, table=FIRST), default, RowByRow(question, whole=False))
            engines[name] = Fraction(some, share, Spark(spark, sql, default))
        else:
            engines[name] = Spark(spark, sql, default, digest)
    floors = q.floors(question) if case.floor else {}
    return engines | {name: Spark(spark, floor, off) for name, floor in floors.items()}


def _first(spark: SparkSession, question: q.Question, folder: Path, share: float) -> float:
    """Make a view of the first rows by time. Frames look back, so these rows have the same answers in the whole table.

    Returns:
        Their exact share.
    """
    times = np.sort(pq.read_table(folder, columns=[question.order])[question.order].cast(pa.int64()).to_numpy())
    rows = max(int(len(times) * share), 1)
    first = spark.table("t").where(f"{question.order} <= timestamp_micros({times[rows - 1]})")
    first.createOrReplaceTempView(FIRST)
    return rows / len(times)
