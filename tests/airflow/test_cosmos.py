"""Refreshes in one DAG with astronomer-cosmos, which makes a task of each model."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from spark_joinery.airflow.dags import joinery_refresh_dag

pytestmark = [pytest.mark.airflow, pytest.mark.dbt, pytest.mark.soak]

EXAMPLE = Path(__file__).resolve().parents[2] / "models_example"


def cosmos_group(project: Path, manifest: Path, name: str, target: str, variables: dict[str, str]) -> Any:
    """The models of a project, as cosmos makes tasks of them."""
    from cosmos import DbtTaskGroup, LoadMode, ProfileConfig, ProjectConfig, RenderConfig

    return DbtTaskGroup(
        group_id="dbt",
        project_config=ProjectConfig(project, manifest_path=manifest, dbt_vars=variables),
        profile_config=ProfileConfig(name, target, profiles_yml_filepath=project / "profiles.yml"),
        render_config=RenderConfig(load_method=LoadMode.DBT_MANIFEST),
    )


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manifest of `models_example`."""
    folder = tmp_path_factory.mktemp("example")
    environment = {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    environment |= {"JOINERY_DEMO_HOME": str(folder), "DBT_TARGET_PATH": str(folder), "DBT_LOG_PATH": str(folder)}
    for command in ("deps", "parse"):
        code = "import sys; from dbt.cli.main import cli; cli(sys.argv[1:])"
        line = [sys.executable, "-c", code, command, "--project-dir", str(EXAMPLE), "--profiles-dir", str(EXAMPLE)]
        done = subprocess.run(line, env=os.environ | environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "manifest.json"


def test_refreshes_of_the_example_stand_around_cosmos_tasks(manifest: Path) -> None:
    dag = joinery_refresh_dag(
        manifest,
        task_per="relation",
        build_models=lambda: cosmos_group(EXAMPLE, manifest, "joinery_example", "extension", {}),
    )
    models = {task for task in dag.task_ids if task.startswith("dbt.") and task.endswith("run")}
    assert {task.split(".")[1].removesuffix("_run") for task in models} >= {"flight_weather", "delays", "stg_flights"}
    before = [task for task in dag.tasks if task.task_id.startswith("before_models.")]
    assert before
    for task in before:
        later = {each.task_id for each in task.get_flat_relatives(upstream=False)}
        assert later >= models
    (delays,) = (task for task in dag.tasks if task.task_id.startswith("after_models."))
    assert delays.upstream_task_ids == {"dbt.delays.test"}
    assert delays.downstream_task_ids == {"all_refreshed"}
    assert dag.get_task("all_refreshed").upstream_task_ids > {delays.task_id}
