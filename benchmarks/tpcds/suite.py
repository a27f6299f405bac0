"""The suite of TPC-DS."""

from __future__ import annotations

from benchmarks.tpc.rows import AllRows
from benchmarks.tpc.suite import Suite
from benchmarks.tpcds.data import GENERATOR, tables
from benchmarks.tpcds.queries import SPARK_TESTS, queries

TPCDS = Suite(
    name="tpcds",
    title="TPC-DS",
    about=f"The queries of TPC-DS (version 1.4) in the spelling in which Spark tests itself with them ({SPARK_TESTS}); "
    f"tables by TPC's own dsdgen ({GENERATOR}).",
    tables=tables,
    queries=queries,
    rounds=2,
    closer=8,
    planning_rounds=7,
    digest=AllRows(),
)
