"""Nights in which no refresh succeeds: real Airflow runs, which fail before they start Spark."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.airflow, pytest.mark.dbt]

DAGS = """
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from spark_joinery.airflow.dags import joinery_refresh_dag

def dbt():
    return EmptyOperator(task_id="dbt")

for way in ("continue", "fail"):
    globals()[way] = joinery_refresh_dag(
        {manifest!r}, dag_id=f"failing_{{way}}", conn_id="gone", build_models=dbt, on_refresh_failure=way
    )

def dbt_that_writes_another():
    return BashOperator(task_id="dbt", bash_command="cp {other} {moved}")

moved = joinery_refresh_dag({moved!r}, dag_id="moved", build_models=dbt_that_writes_another)
deploy = BashOperator(task_id="deploy", bash_command="rm {moved}", dag=moved)
deploy >> moved.get_task("before_models.refresh")

def dbt_that_is_skipped():
    return BashOperator(task_id="dbt", bash_command="exit 99")

for per in ("stage", "relation", "artifact"):
    globals()[per] = joinery_refresh_dag(
        {manifest!r}, dag_id=f"skipped_{{per}}", conn_id="gone", build_models=dbt_that_is_skipped, task_per=per,
        default_args={{"retries": 0}},
    )
"""

RUN = """
import json, sys
from airflow.settings import Session
from support.dags import DagBag, run_here

bag = DagBag(sys.argv[1])
assert not bag.import_errors, bag.import_errors
for dag in bag.dags.values():
    done = run_here(dag, logical_date=None)
    tasks = {t.task_id: [t.state, t.try_number] for t in done.get_task_instances(session=Session())}
    print(json.dumps({"dag": dag.dag_id, "state": done.state, "tasks": tasks}))
"""


@pytest.fixture(scope="module")
def nights(airflow_home: Path, dbt_project: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The states of the DAGs and of their tasks after a run, and the log."""
    dags = tmp_path_factory.mktemp("dags")
    manifest = dbt_project / "target" / "manifest.json"
    moved, other = dags / "moved.json", dags / "other.json"
    shutil.copy(manifest, moved)
    document = json.loads(manifest.read_text())
    del document["nodes"]["model.shop.busy"]
    other.write_text(json.dumps(document))
    files = {"manifest": str(manifest), "moved": str(moved), "other": str(other)}
    (dags / "failing.py").write_text(DAGS.format(**files))
    environment = os.environ | {
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    command = [sys.executable, "-c", RUN, str(dags)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"dag"')]
    return {"log": done.stdout + done.stderr, "moved.json": str(moved), **{run["dag"]: run for run in runs}}


def test_a_refresh_that_fails_does_not_keep_dbt_from_running(nights: dict[str, Any]) -> None:
    night = nights["failing_continue"]
    assert {task: state for task, (state, _) in night["tasks"].items()} == {
        "before_models.refresh": "failed",
        "sources_refreshed": "success",
        "dbt": "success",
        "after_models.refresh": "failed",
        "all_refreshed": "upstream_failed",
    }
    assert night["state"] == "failed"


def test_it_does_on_request(nights: dict[str, Any]) -> None:
    night = nights["failing_fail"]
    assert {task: state for task, (state, _) in night["tasks"].items()} == {
        "before_models.refresh": "failed",
        "sources_refreshed": "upstream_failed",
        "dbt": "upstream_failed",
        "after_models.refresh": "upstream_failed",
        "all_refreshed": "upstream_failed",
    }


def test_what_a_retry_cannot_mend_is_not_tried_again(nights: dict[str, Any]) -> None:
    state, tries = nights["failing_continue"]["tasks"]["before_models.refresh"]
    assert (state, tries < 2) == ("failed", True)
    assert "connection 'gone' does not exist: add one of type 'Joinery (Spark)'" in nights["log"]


def test_a_manifest_that_went_after_the_dag_was_parsed(nights: dict[str, Any]) -> None:
    """The refresh before dbt fails at once; dbt writes a new manifest, which the refresh after dbt reads."""
    night = nights["moved"]
    states = {task: state for task, (state, _) in night["tasks"].items()}
    assert states == {
        "deploy": "success",
        "before_models.refresh": "failed",
        "sources_refreshed": "success",
        "dbt": "success",
        "after_models.refresh": "skipped",
        "all_refreshed": "upstream_failed",
    }
    assert night["tasks"]["before_models.refresh"][1] < 2
    gone = (
        f"JoineryRefreshOperator 'before_models.refresh': {nights['moved.json']}: no such file. `dbt parse` writes it"
    )
    assert gone in nights["log"]
    assert "nothing is declared that this task refreshes" in nights["log"]
    assert (
        "Not refreshed, as it no longer declares them so: distribution of spark_catalog.marts.busy (" in nights["log"]
    )


@pytest.mark.parametrize("task_per", ["stage", "relation", "artifact"])
def test_refresh_after_a_skipped_build_runs(nights: dict[str, Any], task_per: str) -> None:
    """A refresh that runs fails here, as its connection does not exist; a skipped one would leave the run green."""
    night = nights[f"skipped_{task_per}"]
    states = {task: state for task, (state, _) in night["tasks"].items()}
    assert states["dbt"] == "skipped"
    refreshes = {state for task, state in states.items() if task.startswith("after_models.")}
    assert refreshes == {"failed"}
    assert night["state"] == "failed"
