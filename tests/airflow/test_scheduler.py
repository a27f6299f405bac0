"""A deferred night under a real scheduler, triggerer, API server and DAG processor: cancelled, cleared, finished."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.servers import free_port

pytestmark = [pytest.mark.airflow, pytest.mark.server, pytest.mark.soak, pytest.mark.timeout(900)]

FILTERS = 25

DAGS = """
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG
from spark_joinery.airflow.assets import artifact_asset
from spark_joinery.airflow.dags import joinery_refresh_dag
from spark_joinery.airflow.declared import declared

nightly = joinery_refresh_dag(
    {manifest!r},
    dag_id="nightly",
    schedule=None,
    deferrable=True,
    build_models=lambda: EmptyOperator(task_id="dbt"),
    is_paused_upon_creation=False,
    default_args={{"retries": 0}},
)

with DAG(
    "features",
    schedule=[artifact_asset(request) for request in declared({manifest!r})],
    is_paused_upon_creation=False,
):
    EmptyOperator(task_id="dbt")
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source, a manifest that declares many filters of it, and DAGs."""
    folder = tmp_path_factory.mktemp("lake")
    (folder / "source").mkdir()
    (folder / "dags").mkdir()
    pq.write_table(pa.table({"k": list(range(100_000))}), folder / "source" / "part.parquet")
    filters = [{"keys": ["k"], "fpp": (n + 1) / 1000} for n in range(FILTERS)]
    node = {
        "resource_type": "source",
        "relation_name": f"parquet.`{folder}/source`",
        "config": {"meta": {"joinery": {"bloom_filters": filters}}},
    }
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {},
        "sources": {"source.shop.raw.t": node},
    }
    (folder / "manifest.json").write_text(json.dumps(document))
    (folder / "dags" / "nightly.py").write_text(DAGS.format(manifest=str(folder / "manifest.json")))
    return folder


@pytest.fixture(scope="module")
def api(lake: Path, small_spark: dict[str, str]) -> Iterator[httpx.Client]:
    """A client of a whole Airflow, which ends with the tests."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    conf = small_spark | {"spark.sql.catalogImplementation": "in-memory"}
    extra = {"store": str(lake / "store"), "run_dir": str(lake / "runs"), "conf": conf}
    environment = os.environ | {
        "AIRFLOW_HOME": str(lake / "home"),
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__CORE__DAGS_FOLDER": str(lake / "dags"),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__PARALLELISM": "2",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW_CONN_JOINERY_DEFAULT": json.dumps({"conn_type": "joinery", "host": "local[1]", "extra": extra}),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        # `airflow standalone` starts its parts as `airflow`
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    with (lake / "airflow.log").open("w") as log:
        command = [sys.executable, "-m", "airflow", "standalone"]
        process = subprocess.Popen(
            command, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        with httpx.Client(base_url=f"{url}/api/v2", timeout=30) as client:
            eventually(lambda: healthy(client), lake, 240)
            client.headers["Authorization"] = f"Bearer {httpx.get(f'{url}/auth/token').json()['access_token']}"
            yield client
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def healthy(client: httpx.Client) -> bool:
    try:
        parts = client.get("/monitor/health").json()
    except (httpx.HTTPError, ValueError):
        return False
    return all(parts.get(part, {}).get("status") == "healthy" for part in ("scheduler", "triggerer", "dag_processor"))


def eventually(condition: Callable[[], Any], lake: Path, seconds: float) -> Any:
    """Wait until a condition is true; on a time-out, show the end of Airflow's log."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, (lake / "airflow.log").read_text()[-6000:]
        time.sleep(0.5)
    return found


def processes_of(lake: Path) -> list[str]:
    """The processes of Spark that work for a run below the folder."""
    shown = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if f"{lake}/runs/" in line]


def test_a_deferred_night_is_cancelled_and_finished_later(api: httpx.Client, lake: Path) -> None:
    eventually(lambda: api.get("/dags/nightly").status_code == api.get("/dags/features").status_code == 200, lake, 120)
    started = api.post("/dags/nightly/dagRuns", json={"logical_date": None})
    assert started.status_code == 200, started.text
    run = f"/dags/nightly/dagRuns/{started.json()['dag_run_id']}"
    task = f"{run}/taskInstances/before_models.refresh"

    def state(path: str) -> str:
        return str(api.get(path).json()["state"])

    eventually(lambda: state(task) == "deferred", lake, 120)
    eventually(lambda: any('"results": [{' in f.read_text() for f in lake.glob("runs/*/progress.json")), lake, 120)
    assert processes_of(lake)

    api.patch(task, json={"new_state": "failed"}).raise_for_status()
    killed = time.monotonic()
    eventually(lambda: not processes_of(lake), lake, 60)
    assert time.monotonic() - killed < 10
    # artifacts that were published before the task was killed are still current
    assert list(lake.glob("store/**/_current.json"))
    eventually(lambda: state(run) == "failed", lake, 120)
    assert state(f"{run}/taskInstances/dbt") == "success"

    clear = {"dry_run": False, "dag_run_id": started.json()["dag_run_id"], "only_failed": False}
    api.post("/dags/nightly/clearTaskInstances", json=clear).raise_for_status()
    eventually(lambda: state(run) == "success", lake, 240)
    results = api.get(f"{task}/xcomEntries/return_value", params={"deserialize": True}).json()["value"]
    assert len(results) == FILTERS
    assert {result["status"] for result in results} == {"refreshed", "unchanged"}

    def features() -> list[str]:
        return [each["state"] for each in api.get("/dags/features/dagRuns").json()["dag_runs"]]

    eventually(lambda: features() == ["success"], lake, 120)
    assert processes_of(lake) == []
