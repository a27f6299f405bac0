"""The suite of TPC-H."""

from __future__ import annotations

from benchmarks.common.data import FILES
from benchmarks.tpc.suite import Suite
from benchmarks.tpch.data import GENERATOR, tables
from benchmarks.tpch.queries import QUERIES

TPCH = Suite(
    name="tpch",
    title="TPC-H",
    about=f"The 22 queries of TPC-H with the parameters of its validation; tables by {GENERATOR}, each as {FILES} "
    "files of Parquet.",
    tables=tables,
    queries=lambda: QUERIES,
    rounds=4,
    closer=12,
    planning_rounds=31,
)
