"""LAST JOIN over Spark Connect as SQL and as last_join(), which sends no SQL text, and range_join()."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors.exceptions.connect import AnalysisException, SparkConnectException
from pyspark.sql.connect import functions as F
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.session import SparkSession
from spark_joinery import __version__, last_join, range_join
from spark_joinery.batch import Batch, BatchFolder
from spark_joinery.errors import InvalidArgumentError, JoineryError
from spark_joinery.jobs.batch import CANCELLED
from spark_joinery.jobs.reading import reading_settings
from spark_joinery.metadata import ArtifactRequest, DistributionSpec
from spark_joinery.plan_report import explain_dataframe
from spark_joinery.store import list_source, open_store
from support.servers import free_port, server

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def ui() -> str:
    """The address of the server's UI."""
    return f"http://127.0.0.1:{free_port()}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's folder, with its log."""
    return tmp_path_factory.mktemp("connect")


@pytest.fixture(scope="module")
def connect(folder: Path, ui: str) -> Iterator[SparkSession]:
    port = free_port()
    confs = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.enabled": "true",
        "spark.ui.port": ui.rpartition(":")[2],
    }
    with server(folder, "org.apache.spark.sql.connect.service.SparkConnectServer", port, confs):
        # Connect's own builder, because the general one refuses if this process has a classic session
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="module")
def flights(connect: SparkSession) -> DataFrame:
    rows = [(1, "EWR", 10), (2, "EWR", 20), (3, "JFK", 5), (4, None, 10)]
    return connect.createDataFrame(rows, "flight INT, origin STRING, departs INT")


@pytest.fixture(scope="module")
def weather(connect: SparkSession) -> DataFrame:
    rows = [("EWR", 10, 1.0), ("EWR", 15, 2.0), ("EWR", None, 4.0), ("JFK", 7, 5.0), (None, 9, 6.0)]
    return connect.createDataFrame(rows, "origin STRING, observed INT, wind DOUBLE")


def plan_of(frame: DataFrame) -> str:
    return frame._explain_string()


def test_sql(connect: SparkSession) -> None:
    assert [tuple(row) for row in connect.sql("SELECT joinery_version()").collect()] == [(__version__,)]
    joined = connect.sql(
        "SELECT l.id, r.id AS found FROM range(3) l LAST JOIN range(2) r ORDER BY r.id ON r.id <= l.id"
    )
    assert sorted(map(tuple, joined.collect())) == [(0, 0), (1, 1), (2, 1)]
    assert "BroadcastLastJoin" in plan_of(joined)


def test_condition_and_last_by_time(flights: DataFrame, weather: DataFrame) -> None:
    on = (flights.origin == weather.origin) & (weather.observed <= flights.departs)
    joined = last_join(flights, weather, on=on, order_by=weather.observed).select("flight", "wind")
    assert sorted(map(tuple, joined.collect())) == [(1, 1.0), (2, 2.0), (3, None), (4, None)]
    assert "LastJoin" in plan_of(joined)


def test_names_and_several_order_terms(flights: DataFrame, weather: DataFrame) -> None:
    order_by = [F.col("observed").desc_nulls_last(), "wind"]
    joined = last_join(flights, weather, on="origin", order_by=order_by)
    assert joined.columns == ["origin", "flight", "departs", "observed", "wind"]
    found = sorted(map(tuple, joined.select("flight", "wind").collect()))
    assert found == [(1, 4.0), (2, 4.0), (3, 5.0), (4, None)]


def test_as_of_with_tolerance_and_hint(flights: DataFrame, weather: DataFrame) -> None:
    for on, as_of in (("origin", "departs"), (flights.origin == weather.origin, flights.departs)):
        joined = last_join(
            flights, weather, on=on, order_by=weather.observed, as_of=as_of, tolerance=4, hint="merge"
        ).select("flight", "observed")
        assert sorted(map(tuple, joined.collect())) == [(1, 10), (2, None), (3, None), (4, None)]
        assert "SortMergeLastJoin" in plan_of(joined)
    with pytest.raises(AnalysisException, match="TOLERANCE_TYPE"):
        last_join(
            flights, weather, on="origin", order_by="observed", as_of="departs", tolerance=datetime.timedelta(days=1)
        ).collect()


def test_names_with_dots_and_an_interval_as_text(connect: SparkSession) -> None:
    lefts = connect.sql("SELECT 1 AS `a.b`, TIMESTAMP'2024-01-01 10:00' AS `t.x`")
    rights = connect.sql("SELECT 1 AS `a.b`, TIMESTAMP'2024-01-01 08:00' AS `u.x`, TIMESTAMP'2024-01-02' AS `e.x`")
    for tolerance, is_found in (("2 hours", True), ("1 hour", False), (0, False)):
        joined = last_join(lefts, rights, on="`a.b`", order_by="u.x", as_of="t.x", tolerance=tolerance)
        assert [row["u.x"] is not None for row in joined.collect()] == [is_found]
    assert range_join(lefts, rights, on="a.b", left_point="t.x", right_interval=("u.x", "e.x")).count() == 1


def test_columns_that_a_side_does_not_show(flights: DataFrame, weather: DataFrame) -> None:
    fewer = weather.select("origin", "wind")
    answers = {None: [(1, 1.0), (2, 2.0), (3, None), (4, None)], 4: [(1, 1.0), (2, None), (3, None), (4, None)]}
    for tolerance, found in answers.items():
        for order, as_of in (("observed", "departs"), (weather.observed, flights.departs)):
            joined = last_join(flights, fewer, on="origin", order_by=order, as_of=as_of, tolerance=tolerance)
            assert joined.columns == ["origin", "flight", "departs", "wind"]
            assert sorted(map(tuple, joined.select("flight", "wind").collect())) == found
            left = flights.select("flight", "origin")
            joined = last_join(left, fewer, on="origin", order_by=order, as_of=as_of, tolerance=tolerance)
            assert sorted(map(tuple, joined.select("flight", "wind").collect())) == found


def test_without_order_and_self_join(flights: DataFrame) -> None:
    one = last_join(flights, flights.select("origin", "departs"), on="origin").collect()
    assert sorted(row.flight for row in one) == [1, 2, 3, 4]
    earlier = flights.alias("earlier")
    on = (F.col("now.origin") == F.col("earlier.origin")) & (F.col("earlier.departs") < F.col("now.departs"))
    joined = last_join(flights.alias("now"), earlier, on=on, order_by="departs")
    found = joined.select("now.flight", F.col("earlier.flight").alias("previous")).collect()
    assert sorted(map(tuple, found)) == [(1, None), (2, 1), (3, None), (4, None)]


def test_columns_of_an_outer_query(connect: SparkSession, flights: DataFrame, weather: DataFrame) -> None:
    # works over Connect only: a classic session resolves a join at once, before it knows the outer query
    on = (F.col("f.origin") == F.col("w.origin")) & (
        F.col("w.observed") <= F.col("f.departs") - F.col("n.ahead").outer()
    )
    notice = connect.createDataFrame([(0,), (5,), (10,)], "ahead INT").alias("n")
    for as_of in (None, "departs"):
        joined = last_join(flights.alias("f"), weather.alias("w"), on=on, order_by="observed", as_of=as_of)
        found = notice.select("ahead", joined.agg(F.sum("wind")).scalar().alias("wind"))
        assert sorted(map(tuple, found.collect())) == [(0, 3.0), (5, 2.0), (10, 1.0)]
        beside = notice.lateralJoin(joined.agg(F.sum("wind").alias("wind")))
        assert sorted(map(tuple, beside.collect())) == [(0, 3.0), (5, 2.0), (10, 1.0)]
        assert "LastJoin" in plan_of(beside)


@pytest.fixture(scope="module")
def storms(connect: SparkSession) -> DataFrame:
    rows = [
        ("S1", "EWR", 10, 15),
        ("S2", "EWR", 15, 20),
        ("S3", "JFK", 6, 9),
        ("S4", None, 0, 99),
        ("S5", "LGA", 1, None),
    ]
    return connect.createDataFrame(rows, "storm STRING, origin STRING, starts INT, ends INT")


DURING = {"left_point": "departs", "right_interval": ("starts", "ends")}


@pytest.mark.parametrize(
    ("how", "bounds", "found"),
    [
        ("inner", "[]", [("EWR", 1, "S1"), ("EWR", 2, "S2")]),
        ("cross", "[)", [("EWR", 1, "S1")]),
        ("left", "(]", [("EWR", 1, None), ("EWR", 2, "S2"), ("JFK", 3, None), (None, 4, None)]),
        (
            "right_outer",
            "[)",
            [("EWR", 1, "S1"), ("EWR", None, "S2"), ("JFK", None, "S3"), ("LGA", None, "S5"), (None, None, "S4")],
        ),
        (
            "full",
            "[)",
            [("EWR", 1, "S1"), ("EWR", 2, None), ("EWR", None, "S2"), ("JFK", 3, None), ("JFK", None, "S3"),
             ("LGA", None, "S5"), (None, 4, None), (None, None, "S4")],
        ),
        ("semi", "[]", [("EWR", 1), ("EWR", 2)]),
        ("left_anti", "[]", [("JFK", 3), (None, 4)]),
    ],
)  # fmt: skip
def test_points_in_intervals(flights: DataFrame, storms: DataFrame, how: str, bounds: str, found: list[Any]) -> None:
    joined = range_join(flights, storms, on="origin", how=how, bounds=bounds, **DURING)  # type: ignore[arg-type]
    assert joined.columns[:3] == ["origin", "flight", "departs"]
    shown = joined.select(*[name for name in ("origin", "flight", "storm") if name in joined.columns])
    assert sorted(map(tuple, shown.collect()), key=str) == sorted(found, key=str)
    assert "RangeJoin" in plan_of(joined)


def test_intervals_that_overlap(flights: DataFrame, storms: DataFrame) -> None:
    on = (flights.origin == storms.origin) & (storms.storm != "S1")
    joined = range_join(
        flights, storms, on=on, left_interval=(flights.departs - 2, "departs"), right_interval=("starts", storms.ends)
    )
    assert joined.select(flights.origin, "flight", storms.storm).collect() == [("EWR", 2, "S2")]
    assert "RangeJoin" in plan_of(joined)


def test_ranges_of_a_self_join(storms: DataFrame) -> None:
    overlap = {"left_interval": ("starts", "ends"), "right_interval": ("starts", "ends")}
    for how in ("inner", "right", "full"):
        joined = range_join(storms.alias("a"), storms.alias("b"), on="origin", how=how, **overlap)  # type: ignore[arg-type]
        pairs = joined.where("a.storm < b.storm").select("origin", "a.storm", F.col("b.storm").alias("other"))
        assert pairs.collect() == [("EWR", "S1", "S2")]
    unkeyed = range_join(storms, storms, how="semi", **overlap)  # type: ignore[arg-type]
    assert unkeyed.count() == 4


def test_errors_are_spark_s_or_ours(flights: DataFrame, weather: DataFrame) -> None:
    with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN"):
        last_join(flights, weather, on="origin", order_by="no_such_column").collect()
    with pytest.raises(AnalysisException, match="departs"):  # a column of the other side
        last_join(flights, weather, on="origin", order_by=flights.departs).collect()
    with pytest.raises(AnalysisException) as raised:
        last_join(flights, weather, on="origin", order_by=F.rand()).collect()
    parameters = raised.value.getMessageParameters()
    assert parameters is not None
    assert parameters["condition"] == "JOINERY_LAST_JOIN.ORDER_BY_NONDETERMINISTIC"
    assert raised.value.getSqlState() == "42K0E"
    with pytest.raises(InvalidArgumentError, match="not over Spark Connect"):
        explain_dataframe(flights)


def test_the_artifact_store(connect: SparkSession, tmp_path: Path) -> None:
    """The client lists and publishes with pyarrow the files that the server writes and reads."""
    artifact = ("distribution", "spark_catalog.raw.flights", "0123456789abcdef")
    store = open_store(connect, str(tmp_path / "a store"))
    pending = store.begin(*artifact)
    connect.range(3).coalesce(1).write.parquet(pending.data_path)
    version = store.publish(pending, {"type": "none", "reason": "test", "files": []})
    assert [file["path"][:10] for file in version.description["files"]] == ["data/part-"]
    lookup = store.current(*artifact)
    assert (lookup.version, lookup.reason) == (version, None)
    frame = connect.read.parquet(version.data_path)
    assert frame.count() == 3
    listed = [(file.path, file.length) for file in list_source(frame, store.filesystem).files]
    assert listed == [(f"{version.path}/{f['path']}", f["length"]) for f in version.description["files"]]


REFRESH = """
import sys, json
from dataclasses import asdict
from pathlib import Path
from spark_joinery.jobs import build_session, refresh
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, HotKeys, RangeIndexSpec
from spark_joinery.store import open_store

folder, spark = sys.argv[1], build_session("nightly", {})
specs = [
    DistributionSpec(partition_by=["k"], order_by="ts", hot=HotKeys(min_rows=2)),
    BloomFilterSpec(keys=["k"]),
    RangeIndexSpec(point="ts", columns=["k"]),
]
requests = [ArtifactRequest.of_table(f"parquet.`{folder}/source`", spec) for spec in specs]
for rows in (1000, 1010, 1010):
    source = f"{folder}/source"
    if not Path(source).exists() or spark.read.parquet(source).count() < rows:
        spark.range(rows % 1000 or rows).selectExpr("id % 7 k", "id ts").write.mode("append").parquet(source)
    for result in refresh(spark, requests, open_store(spark, f"{folder}/store"), schema="default"):
        print(json.dumps(asdict(result)))
"""


@pytest.mark.timeout(300)
def test_the_jobs(connect: SparkSession, tmp_path: Path) -> None:
    """The jobs run in a process that only knows the server's address."""
    environment = {
        **os.environ,
        "SPARK_REMOTE": f"sc://{connect.client._builder.url.netloc}",
        "PYTHONWARNINGS": "ignore",
    }
    command = [sys.executable, "-c", REFRESH, str(tmp_path)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    results = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert [(r["status"], r["mode"], r["rows"], r["reason"]) for r in results] == (
        [("refreshed", "full", 1000, None)] * 3
        + [("refreshed", "incremental", 1010, None)] * 3
        + [("unchanged", None, 1010, None)] * 3
    )
    assert connect.table(results[0]["table"]).where("is_hot").count() == 7


@pytest.mark.timeout(300)
def test_the_query_of_a_batch_ends_with_its_folder(connect: SparkSession, ui: str, tmp_path: Path) -> None:
    """A program without its folder must end, or the server would go on with the query for minutes."""
    # one partition, because a task over range() goes on after its job has ended, and later tests need a core
    connect.sql("CREATE VIEW endless AS SELECT id % 5 AS k, hash(id) AS ts FROM range(0, 1000000000000, 1, 1)")
    spec = DistributionSpec(partition_by=["k"], order_by="ts")
    requests = [ArtifactRequest.of_table("default.endless", spec)]
    folder = BatchFolder.create(tmp_path / "run", Batch(requests, store=str(tmp_path / "store")))
    environment = {**os.environ, "SPARK_REMOTE": f"sc://{connect.client._builder.url.netloc}"}
    command = [sys.executable, "-m", "spark_joinery.jobs.batch", str(folder.path)]
    with subprocess.Popen(command, env=environment) as program:
        try:
            running: list[int] = []
            # the jobs before the endless one are short
            while not running or running != running_jobs(ui):
                assert program.poll() is None
                running = running_jobs(ui)
                time.sleep(2)
            folder.remove()
            assert program.wait(60) == CANCELLED
        finally:
            program.kill()
    ended = time.monotonic()
    while running_jobs(ui):
        assert time.monotonic() - ended < 30
        time.sleep(0.2)


def running_jobs(ui: str) -> list[int]:
    """The ids of the jobs that a server runs, read from its UI."""
    with urllib.request.urlopen(f"{ui}/api/v1/applications") as answer:
        (application,) = json.load(answer)
    with urllib.request.urlopen(f"{ui}/api/v1/applications/{application['id']}/jobs?status=running") as answer:
        return [job["jobId"] for job in json.load(answer)]


def test_a_store_that_the_client_does_not_reach(connect: SparkSession) -> None:
    with pytest.raises(JoineryError, match=r"abc:/joinery cannot be reached from here, the client of Spark Connect"):
        open_store(connect, "abc:/joinery")


ON_A_SERVER_WITHOUT_THE_JAR = """
from pyspark.sql import SparkSession
from spark_joinery import JoineryError, last_join
spark = SparkSession.builder.remote("local[1]").getOrCreate()
try:
    last_join(spark.range(3), spark.range(2), on="id")
except JoineryError as error:
    print(error)
spark.stop()
"""


def test_a_server_without_the_jar_is_one_clear_error() -> None:
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_TESTING": "1"}  # SPARK_TESTING: a free port
    command = [sys.executable, "-c", ON_A_SERVER_WITHOUT_THE_JAR]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "start a Spark Connect server with the jar" in done.stdout


def test_reading_settings_unknown_to_spark_log_no_error(connect: SparkSession, folder: Path) -> None:
    log = folder / "server.log"
    before = log.read_text().count(" ERROR ")
    settings = reading_settings(connect)
    assert settings["orc.force.positional.evolution"] is None
    assert settings["spark.sql.parquet.inferTimestampNTZ.enabled"] == "true"
    assert log.read_text().count(" ERROR ") == before


def test_reading_settings_of_a_dropped_connection_raise(connect: SparkSession) -> None:
    """A dropped connection must not look like unset settings."""
    other = connect.newSession()
    other.stop()
    with pytest.raises(SparkConnectException):
        reading_settings(other)
