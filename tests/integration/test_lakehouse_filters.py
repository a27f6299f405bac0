"""Runtime filters that a query builds from Delta Lake and Iceberg tables, and filters on such tables.

Runs as `test_lakehouse.py` does: on Spark 4.1, in a process of its own or with `test_lakehouse_artifacts.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame, SparkSession
from spark_joinery.plan_report import explain_sql

pytestmark = pytest.mark.lakehouse

SCHEMAS = {"delta": "spark_catalog.lake", "iceberg": "ice.lake"}
BUILD = "spark.joinery.runtimeFilter.build.enabled"
VERSIONS = {"delta": ("timestamp", "version"), "iceberg": ("committed_at", "snapshot_id")}
VECTORS = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"


@pytest.fixture(scope="module", autouse=True)
def tables(lake: SparkSession) -> Iterator[None]:
    """For each format a table with few keys and one with many rows in four files; both have deleted rows."""
    for kind, schema in SCHEMAS.items():
        properties = VECTORS if kind == "delta" else ""
        lake.sql(
            f"CREATE TABLE {schema}.small USING {kind} {properties} AS SELECT if(id % 50 = 0, NULL, int(id)) AS k, "
            "concat('N', id) AS name, id % 10 AS class FROM range(0, 400, 1, 1)"
        )
        lake.sql(
            f"CREATE TABLE {schema}.fact USING {kind} {properties} AS SELECT int(id) AS id, int(id % 2000) AS k, "
            "sha2(string(id), 256) AS pad FROM range(0, 20000, 1, 4)"
        )
        lake.sql(f"DELETE FROM {schema}.small WHERE k = 13")
        lake.sql(f"DELETE FROM {schema}.fact WHERE id = 23")
    yield
    for schema in SCHEMAS.values():
        for table in ("small", "fact"):
            lake.sql(f"DROP TABLE {schema}.{table}")


def executed(frame: DataFrame) -> str:
    """The plan of a query that has run, as adaptive execution left it."""
    return str(frame._jdf.queryExecution().executedPlan().toString()).split("+- == Initial Plan ==")[0]


def rows(frame: DataFrame) -> list[str]:
    return sorted(map(repr, frame.collect()))


def without_filter(lake: SparkSession, query: str) -> DataFrame:
    """A query, planned without filters."""
    lake.conf.set(BUILD, "false")
    try:
        return planned(lake, query)
    finally:
        lake.conf.unset(BUILD)


def planned(lake: SparkSession, query: str) -> DataFrame:
    frame = lake.sql(query)
    frame._jdf.queryExecution().executedPlan()
    return frame


def check(lake: SparkSession, query: str, source: str) -> str:
    """Run a query with and without filters, compare the answers, and expect a filter of `source`; returns the plan."""
    expected = rows(without_filter(lake, query))
    frame = lake.sql(query)
    assert rows(frame) == expected
    plan = executed(frame)
    assert "joinery_might_contain" in plan, [entry.reason for entry in explain_sql(lake, query)]
    assert f" keys of {source})" in plan, plan
    return plan


@pytest.mark.parametrize("fact", SCHEMAS)
@pytest.mark.parametrize("small", SCHEMAS)
def test_keys_of_one_filter_the_other(lake: SparkSession, small: str, fact: str) -> None:
    few = f"(SELECT * FROM {SCHEMAS[small]}.small WHERE class = 3)"
    for query in (
        f"SELECT f.id, s.name FROM {SCHEMAS[fact]}.fact f JOIN {few} s ON f.k = s.k",
        f"SELECT s.name, f.id FROM {few} s LAST JOIN {SCHEMAS[fact]}.fact f ORDER BY f.id ON f.k = s.k",
    ):
        check(lake, query, f"{SCHEMAS[small]}.small")


@pytest.mark.parametrize("kind", SCHEMAS)
def test_what_is_written_between_planning_and_running(lake: SparkSession, kind: str) -> None:
    """Both plans read the tables as they were at planning."""
    schema = SCHEMAS[kind]
    query = f"SELECT s.name, f.id FROM {schema}.small s LEFT JOIN {schema}.fact f ON f.k = s.k WHERE s.class = 7"
    with_filter, stock = planned(lake, query), without_filter(lake, query)
    lake.sql(f"INSERT INTO {schema}.small VALUES (1999, 'new', 7)")
    lake.sql(f"INSERT INTO {schema}.fact VALUES (30000, 7, 'new')")
    assert rows(with_filter) == rows(stock)
    assert "joinery_might_contain" in executed(with_filter)
    check(lake, query, f"{schema}.small")


@pytest.mark.parametrize("kind", SCHEMAS)
def test_time_travel(lake: SparkSession, kind: str) -> None:
    """An earlier version has keys that the newest one lacks."""
    schema = SCHEMAS[kind]
    history = (
        lake.sql(f"DESCRIBE HISTORY {schema}.small") if kind == "delta" else lake.table(f"{schema}.small.snapshots")
    )
    first = min(map(tuple, history.select(*VERSIONS[kind]).collect()))[1]
    old = f"(SELECT * FROM {schema}.small VERSION AS OF {first})"
    query = f"SELECT f.id, s.name FROM {schema}.fact f JOIN {old} s ON f.k = s.k WHERE s.class = 3"
    check(lake, query, f"{schema}.small")
    assert any("N13" in row for row in rows(lake.sql(query)))


@pytest.mark.soak
@pytest.mark.parametrize("kind", SCHEMAS)
def test_merge(lake: SparkSession, kind: str) -> None:
    schema = SCHEMAS[kind]
    answers = []
    for build in ("false", "true"):
        lake.conf.set(BUILD, build)
        lake.sql(f"CREATE TABLE {schema}.target USING {kind} AS SELECT * FROM {schema}.fact")
        lake.sql(f"""
            MERGE INTO {schema}.target t
            USING (SELECT k, max(name) AS name FROM {schema}.small WHERE class = 3 GROUP BY k) s
            ON t.k = s.k AND t.id < 10000
            WHEN MATCHED AND t.id < 100 THEN DELETE
            WHEN MATCHED THEN UPDATE SET pad = s.name
            WHEN NOT MATCHED THEN INSERT (id, k, pad) VALUES (-1, s.k, s.name)""")
        answers.append(rows(lake.table(f"{schema}.target")))
        lake.sql(f"DROP TABLE {schema}.target")
    lake.conf.unset(BUILD)
    assert answers[0] == answers[1]
    assert len(answers[0]) > 19000


@pytest.mark.soak
@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_query_that_is_cancelled_while_it_waits_for_keys(lake: SparkSession, kind: str) -> None:
    """The keys are slow to shuffle, so nothing else runs; no job is left after the query is cancelled."""
    schema, group = SCHEMAS[kind], f"to cancel {kind}"
    slow = f"(SELECT * FROM {schema}.small WHERE length(sha2(repeat(name, 3000000), 512)) = 128 AND class = 3)"
    query = f"SELECT f.id, s.name FROM {schema}.fact f JOIN {slow} s ON f.k = s.k"
    frame = planned(lake, query)
    assert any("a filter of the keys of" in entry.reason for entry in explain_sql(lake, query))

    def run() -> None:
        lake.sparkContext.setJobGroup(group, "a query that is cancelled", interruptOnCancel=True)
        frame.collect()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(inheritable_thread_target(lake)(run))
        wait_until(lambda: bool(running_jobs(lake)))
        # future jobs, too: Spark would cancel nothing between two jobs
        lake.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(group)
        with pytest.raises(Exception, match=r"(?i)cancel"):
            running.result(60)
    wait_until(lambda: no_job_runs(lake))
    check(
        lake, f"SELECT f.id FROM {schema}.fact f JOIN {schema}.small s ON f.k = s.k WHERE class = 3", f"{schema}.small"
    )


def running_jobs(lake: SparkSession) -> list[Any]:
    jobs = lake.sparkContext._jsc.sc().statusStore().jobsList(None)
    return [jobs.apply(i) for i in range(jobs.size()) if str(jobs.apply(i).status()) == "RUNNING"]


def no_job_runs(lake: SparkSession) -> bool:
    return not running_jobs(lake)


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def rows_read(plan: Any, table: str) -> int:
    """The number of a table's rows that the scans of an executed plan returned."""
    leaves = plan.collectLeaves()
    read = 0
    for leaf in (leaves.apply(i) for i in range(leaves.size())):
        name = leaf.nodeName()
        if name == "AdaptiveSparkPlan":
            read += rows_read(leaf.executedPlan(), table)
        elif name.endswith("QueryStage"):
            read += rows_read(leaf.plan(), table)
        elif "Scan" in name and table in name:
            read += leaf.metrics().apply("numOutputRows").value()
    return read


def test_deltas_reader_is_told_the_bounds(lake: SparkSession) -> None:
    """All keys are in the first of four files, so only that one is read. Deletion vectors would forbid that."""
    fact, small = f"{SCHEMAS['delta']}.plain", f"{SCHEMAS['delta']}.small"
    lake.sql(f"CREATE TABLE {fact} USING delta AS SELECT int(id) AS id FROM range(0, 20000, 1, 4)")
    query = f"SELECT p.id, s.name FROM {fact} p JOIN {small} s ON p.id = s.k WHERE s.class = 3"
    check(lake, query, small)
    frame = lake.sql(query)
    frame.collect()
    read = rows_read(frame._jdf.queryExecution().executedPlan(), "plain")
    lake.sql(f"DROP TABLE {fact}")
    assert read == 5000
