"""The example DAG as it runs every night: real Airflow, real dbt, real Spark, one embedded metastore."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import spark_joinery.airflow

pytestmark = [pytest.mark.airflow, pytest.mark.dbt]

LOAD = """
from spark_joinery.airflow.hooks.joinery import JoineryHook

with JoineryHook() as hook:
    spark = hook.get_conn()
    spark.sql("CREATE DATABASE raw")
    # AA has 150 flights and BB 50, both hot; CC has 49; one flight has no carrier
    carrier = "CASE WHEN id < 150 THEN 'AA' WHEN id < 200 THEN 'BB' WHEN id < 249 THEN 'CC' END"
    spark.range(250).selectExpr(f"{carrier} AS carrier", "id AS departs_at").write.saveAsTable("raw.flights")
    hours = "range(100000000) a CROSS JOIN range(100000000) b"
    spark.sql(f"CREATE VIEW raw.slow AS SELECT a.id % 3 AS carrier, b.id AS departs_at FROM {hours}")
"""

KILL = """
import json, os, signal, subprocess, threading, time
from spark_joinery.airflow.operators.distribution import SkewDistributionOperator

operator = SkewDistributionOperator(task_id="t", relation="raw.slow", partition_by=["carrier"], order_by="departs_at")

def busy():
    application = operator._application
    return application and application.folder.progress().state == "running"

killed = []

def terminate():
    while not busy():
        time.sleep(0.2)
    time.sleep(2)  # it has begun to read a table of 10^16 rows
    killed.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGTERM)

# what Airflow's task runner does
signal.signal(signal.SIGTERM, lambda *_: operator.on_kill())
threading.Thread(target=terminate, daemon=True).start()
try:
    operator.execute({})
except Exception as error:
    java = subprocess.run(["pgrep", "-P", str(os.getpid()), "java"], capture_output=True, text=True).stdout
    print(json.dumps({"error": type(error).__name__, "java": java, "seconds": time.monotonic() - killed[0]}))
"""

AGAIN = """
import json, logging
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator

logging.basicConfig(level=logging.INFO)
where = "carrier NOT LIKE '{% raw %}{%{% endraw %}'"
for full_refresh in (False, True):
    operator = BloomFilterOperator(
        task_id="t", relation="raw.flights", keys=["carrier"], where=where, full_refresh=full_refresh
    )
    operator.render_template_fields({})
    print(json.dumps(operator.execute({})))
"""

EXECUTE = """
import json, time
from spark_joinery.airflow.hooks.joinery import JoineryHook
from spark_joinery.airflow.operators.distribution import SkewDistributionOperator

operator = SkewDistributionOperator(
    task_id="t", relation="raw.flights", partition_by=["carrier"], order_by="departs_at"
)
started = time.monotonic()
try:
    operator.execute({})
except Exception as error:
    seconds = time.monotonic() - started
    connection = JoineryHook().test_connection()
    print(json.dumps({"error": str(error), "seconds": seconds, "connection": connection}))
"""

READ_AND_STAY = """
import json, sys
from spark_joinery.airflow.hooks.joinery import JoineryHook

with JoineryHook() as hook:
    rows = hook.get_conn().table(sys.argv[1]).orderBy("carrier").collect()
    columns = [[row.carrier, row.row_count, row.is_hot, row.quantiles] for row in rows]
    print(json.dumps({"rows": columns, "connection": hook.test_connection()}), flush=True)
    sys.stdin.read()
"""


COSMOS = """
from pathlib import Path

from cosmos import (
    DbtTaskGroup, ExecutionConfig, InvocationMode, LoadMode, ProfileConfig, ProjectConfig, RenderConfig
)
from spark_joinery.airflow.dags import joinery_refresh_dag

PROJECT = Path({project!r})
MANIFEST = PROJECT / "target" / "manifest.json"


def models():
    return DbtTaskGroup(
        group_id="dbt",
        project_config=ProjectConfig(PROJECT, manifest_path=MANIFEST),
        profile_config=ProfileConfig("shop", "dev", profiles_yml_filepath=PROJECT / "profiles.yml"),
        # a process of its own, as the metastore serves one
        execution_config=ExecutionConfig(invocation_mode=InvocationMode.SUBPROCESS),
        render_config=RenderConfig(load_method=LoadMode.DBT_MANIFEST),
    )


dag = joinery_refresh_dag(MANIFEST, dag_id="beside_cosmos", build_models=models, task_per="relation")
"""


@pytest.fixture(scope="module")
def environment(lakehouse: dict[str, str], dbt_project: Path, small_spark: dict[str, str]) -> dict[str, str]:
    """The environment of Airflow's processes, with the connection and the path to dbt."""
    connection = {
        "conn_type": "joinery",
        "host": "local[2]",
        "extra": {
            "store": lakehouse["store"],
            "metastore_dir": lakehouse["metastore_db"],
            "warehouse_dir": lakehouse["warehouse"],
            "report_dir": lakehouse["reports"],
            "report_url": "https://reports.example.org/joinery/",
            "conf": small_spark,
        },
    }
    return os.environ | {
        "AIRFLOW_CONN_JOINERY_DEFAULT": json.dumps(connection),
        "JOINERY_DBT_PROJECT_DIR": str(dbt_project),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def answer(lines: Iterable[str]) -> dict[str, Any]:
    """The JSON object among the lines that a script prints; the others are Airflow's log."""
    return next(json.loads(line) for line in lines if line.startswith("{"))


def python(code: str, environment: dict[str, str]) -> list[str]:
    """Run Python code in a process of its own; returns the lines of its output."""
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def loaded(environment: dict[str, str]) -> dict[str, str]:
    """The same environment, after the table `raw.flights` was added to the metastore."""
    python(LOAD, environment)
    return environment


def run_example(folder: Path, environment: dict[str, str], *dag_id: str) -> dict[str, Any]:
    """Run an example DAG; returns its report, with the log."""
    command = [sys.executable, str(Path(__file__).with_name("nightly_run.py")), str(folder / "report.json"), *dag_id]
    with (folder / "log.txt").open("w") as log:
        done = subprocess.run(command, env=environment, stdout=log, stderr=subprocess.STDOUT, timeout=500, check=False)
    text = (folder / "log.txt").read_text()
    assert done.returncode == 0, text
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report | {"log": text}


@pytest.fixture(scope="module")
def night(airflow_home: Path, loaded: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of one run of the nightly example, with its log, metrics and lineage events."""
    examples = Path(spark_joinery.airflow.__path__[0]) / "example_dags"
    shutil.copy(examples / "example_joinery.py", airflow_home / "dags")
    folder = tmp_path_factory.mktemp("night")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as metrics:
        metrics.bind(("127.0.0.1", 0))
        metrics.setblocking(False)
        listeners = {
            "AIRFLOW__METRICS__STATSD_ON": "True",
            "AIRFLOW__METRICS__STATSD_HOST": "127.0.0.1",
            "AIRFLOW__METRICS__STATSD_PORT": str(metrics.getsockname()[1]),
            "AIRFLOW__METRICS__METRICS_ALLOW_LIST": "joinery",
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps({"type": "file", "log_file_path": str(folder / "lineage")}),
        }
        run = run_example(folder, loaded | listeners)
        sent = []
        with suppress(BlockingIOError):
            while packet := metrics.recv(65536):
                sent.append(packet.decode())
    lineage = [json.loads(line) for file in folder.glob("lineage*") for line in file.read_text().splitlines()]
    return run | {"metrics": sent, "lineage": lineage}


def test_what_exists_is_refreshed_and_the_rest_skipped(night: dict[str, Any]) -> None:
    assert night["tasks"] == {
        "before_models.refresh": "success",
        "sources_refreshed": "success",
        "dbt_build": "success",
        "after_models.refresh": "success",
        "all_refreshed": "success",
    }
    assert {artifact: result["status"] for artifact, result in artifacts(night).items()} == {
        "distribution of spark_catalog.raw.flights": "refreshed",
        "distribution of spark_catalog.raw.not_loaded_yet": "skipped",
        "bloom_filter of spark_catalog.raw.flights": "refreshed",
        "distribution of spark_catalog.marts.busy": "refreshed",
        "range_index of spark_catalog.marts.busy": "refreshed",
    }
    assert (night["state"], night["logical_date"]) == ("success", None)


def artifacts(night: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The result of the run for each artifact."""
    returned = [night["results"][f"{stage}.refresh"] for stage in ("before_models", "after_models")]
    return {f"{one['kind']} of {one['relation']}": one for results in returned for one in results}


def test_reasons_and_results_are_in_the_log(night: dict[str, Any]) -> None:
    assert "spark_catalog.raw.not_loaded_yet: raw.not_loaded_yet does not exist yet" in night["log"]
    assert "bloom_filter of spark_catalog.raw.flights: refreshed (full), 250 rows, " in night["log"]
    assert "range_index of spark_catalog.marts.busy: refreshed (full), 249 rows, " in night["log"]


def test_results_go_to_xcom(night: dict[str, Any]) -> None:
    results = artifacts(night)
    flights = results["distribution of spark_catalog.raw.flights"]
    assert (flights["rows"], flights["keys"], flights["hot_keys"]) == (250, 4, 2)
    refreshed = [result for result in results.values() if result["status"] == "refreshed"]
    kinds = {(result["kind"], result["status"], result["mode"]) for result in refreshed}
    assert kinds == {(kind, "refreshed", "full") for kind in ("distribution", "bloom_filter", "range_index")}


def test_each_task_links_to_its_report(night: dict[str, Any], lakehouse: dict[str, str]) -> None:
    for stage in ("before_models", "after_models"):
        address = night["links"][f"{stage}.refresh _link_SkewReportLink"]
        assert address.startswith("https://reports.example.org/joinery/example_joinery_refresh/manual")
        path = Path(lakehouse["reports"]) / address.removeprefix("https://reports.example.org/joinery/")
        assert path.name == "report.html"
        assert path.parent.relative_to(lakehouse["reports"]).parts[2:] == (f"{stage}.refresh", "try-1")
        # values of the source may be in the driver's log
        assert [file.name for file in path.parent.iterdir()] == ["report.html"]
    (page,) = Path(lakehouse["reports"]).glob("*/*/before_models.refresh/*/report.html")
    states = re.findall(r'data-label="State"><span class="state ([a-z-]+)">', page.read_text())
    assert states == ["refreshed", "refreshed", "skipped", "valid", "valid"]
    assert "raw.not_loaded_yet does not exist yet" in page.read_text()
    # keys are values of the source
    assert ">AA<" not in page.read_text()


def test_metrics_count_what_became_of_artifacts(night: dict[str, Any]) -> None:
    counted = [metric.partition(":")[0] for metric in night["metrics"]]
    assert counted.count("airflow.joinery.artifacts.refreshed") == 4
    assert counted.count("airflow.joinery.artifacts.skipped") == 1
    times = [
        metric.split(":")[1] for metric in night["metrics"] if metric.startswith("airflow.joinery.artifact.duration:")
    ]
    assert len(times) == 5
    results = artifacts(night).values()
    assert sum(float(time.removesuffix("|ms")) for time in times) == pytest.approx(
        1000 * sum(result["seconds"] for result in results), abs=1
    )


def test_openlineage_hears_of_relations_and_artifacts(night: dict[str, Any], lakehouse: dict[str, str]) -> None:
    ended = {event["job"]["name"]: event for event in night["lineage"] if event["eventType"] == "COMPLETE"}
    event = ended["example_joinery_refresh.before_models.refresh"]
    (flights,) = event["inputs"]
    assert (flights["namespace"], flights["name"]) == ("spark", "raw.flights")
    assert flights["inputFacets"]["inputStatistics"]["rowCount"] == 250
    outputs = {output["name"].removeprefix(lakehouse["store"]).split("/")[1]: output for output in event["outputs"]}
    assert set(outputs) == {"distribution", "bloom_filter"}
    for kind, output in outputs.items():
        result = artifacts(night)[f"{kind} of spark_catalog.raw.flights"]
        assert Path(output["name"], "_current.json").exists()
        assert output["namespace"] == "file"
        assert output["facets"]["version"]["datasetVersion"] == result["version"]
        assert output["outputFacets"]["outputStatistics"]["rowCount"] == result["keys"]


def test_an_artifact_whose_source_did_not_change_is_left_as_it_is(
    night: dict[str, Any], loaded: dict[str, str]
) -> None:
    lines = [json.loads(line) for line in python(AGAIN, loaded) if line.startswith("{")]
    first = artifacts(night)["bloom_filter of spark_catalog.raw.flights"]
    unchanged, full = lines
    assert (unchanged["status"], unchanged["mode"], unchanged["version"]) == ("unchanged", None, first["version"])
    assert (full["status"], full["mode"]) == ("refreshed", "full")
    assert full["version"] > first["version"]


@pytest.mark.usefixtures("night")
def test_a_killed_task_takes_its_jvm_along(loaded: dict[str, str]) -> None:
    outcome = answer(python(KILL, loaded))
    assert outcome["error"]
    assert outcome["java"] == ""
    assert outcome["seconds"] < 10


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("night")
def test_a_task_for_each_relation(loaded: dict[str, str], tmp_path: Path) -> None:
    run = run_example(tmp_path, loaded, "example_joinery_each_relation")
    assert run["tasks"] == {"sources": "success", "refresh[0]": "success", "refresh[1]": "skipped", "fresh": "success"}
    assert "distribution of spark_catalog.raw.flights: unchanged" in run["log"]


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("night")
def test_the_example_of_each_operator(loaded: dict[str, str], tmp_path: Path) -> None:
    run = run_example(tmp_path, loaded, "example_joinery_by_hand")
    assert run["tasks"] == {"flights_by_carrier": "success", "planes_of_cessna": "skipped", "storms_by_time": "skipped"}


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("night")
def test_a_night_in_which_cosmos_runs_dbt(loaded: dict[str, str], dbt_project: Path, tmp_path: Path) -> None:
    (tmp_path / "dags").mkdir()
    (tmp_path / "dags" / "cosmos.py").write_text(COSMOS.format(project=str(dbt_project)))
    folder = {"AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path / "dags")}
    run = run_example(tmp_path, loaded | folder, "beside_cosmos")
    states = {re.sub("__[0-9a-f]{8}", "", task): state for task, state in run["tasks"].items()}
    assert states == {
        "before_models.raw_flights": "success",
        "before_models.raw_not_loaded_yet": "skipped",
        "sources_refreshed": "success",
        "dbt.busy_run": "success",
        "after_models.marts_busy": "success",
        "all_refreshed": "success",
    }


@pytest.fixture(scope="module")
def reader(night: dict[str, Any], loaded: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The rows that another JVM reads from the registered distribution; that JVM keeps the metastore open."""
    table = artifacts(night)["distribution of spark_catalog.raw.flights"]["table"]
    command = [sys.executable, "-c", READ_AND_STAY, table]
    with subprocess.Popen(command, env=loaded, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield answer(process.stdout)
        process.stdin.close()


def test_the_distribution_is_in_the_store_and_registered(reader: dict[str, Any], lakehouse: dict[str, str]) -> None:
    assert len(list(Path(lakehouse["store"]).rglob("_current.json"))) == 4
    counts = [row[:3] for row in reader["rows"]]
    assert counts == [[None, 1, False], ["AA", 150, True], ["BB", 50, True], ["CC", 49, False]]
    boundaries = {row[0]: row[3] for row in reader["rows"]}
    assert boundaries[None] is boundaries["CC"] is None
    for carrier, first, last in (("AA", 0, 149), ("BB", 150, 199)):
        assert len(boundaries[carrier]) == 7
        assert sorted(boundaries[carrier]) == boundaries[carrier]
        assert first <= boundaries[carrier][0] <= boundaries[carrier][-1] <= last


@pytest.mark.usefixtures("reader")
def test_locked_metastore_is_an_error_within_ten_seconds(loaded: dict[str, str], lakehouse: dict[str, str]) -> None:
    outcome = answer(python(EXECUTE, loaded))
    assert outcome["seconds"] < 10
    assert lakehouse["metastore_db"] in outcome["error"]
    works, text = outcome["connection"]
    assert (works, lakehouse["metastore_db"] in text) == (False, True)


def test_connection_form_can_test_the_connection(reader: dict[str, Any], lakehouse: dict[str, str]) -> None:
    works, text = reader["connection"]
    assert works is True
    assert re.fullmatch(rf"Spark 4\.\d\.\d, store file:{lakehouse['store']}, Joinery extension loaded", text)
