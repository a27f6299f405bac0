"""Common mistakes: each gives one clear error, or none if it does no harm. (Fast tests of this are elsewhere.)"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from airflow.providers.common.compat.sdk import AirflowException
from spark_joinery import jar_path
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator
from spark_joinery.jar import EXTENSION
from support.built_jars import other_lines
from support.documentation import ROOT, blocks

pytestmark = [pytest.mark.airflow, pytest.mark.dbt, pytest.mark.soak, pytest.mark.timeout(1200)]

PAGE = ROOT / "docs/how-to/dbt-and-airflow.md"


@pytest.fixture
def refresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_spark: dict[str, str]) -> Any:
    """A function that refreshes a filter of ten keys: store and further settings -> the task's result."""
    (tmp_path / "source").mkdir()
    pq.write_table(pa.table({"k": list(range(10))}), tmp_path / "source" / "part.parquet")

    def run(store: Path, **confs: str) -> Any:
        conf = small_spark | {"spark.sql.catalogImplementation": "in-memory"} | confs
        connection = {"conn_type": "joinery", "host": "local[1]", "extra": {"store": str(store), "conf": conf}}
        monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps(connection))
        monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        relation = f"parquet.`{tmp_path}/source`"
        return BloomFilterOperator(task_id="t", relation=relation, keys=["k"], joinery_conn_id="lake").execute({})

    return run


def test_a_store_that_cannot_be_written(refresh: Any, tmp_path: Path) -> None:
    # root may write into any folder, but not below a file
    (tmp_path / "file").touch()
    with pytest.raises(AirflowException, match=r"The artifact store file:.*/file/store cannot be written .*Give"):
        refresh(tmp_path / "file" / "store")
    shown = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in shown


def test_a_jar_for_another_spark_does_no_harm(refresh: Any, tmp_path: Path) -> None:
    """The jobs do not need the jar, and the jar for this Spark is loaded, too."""
    other = jar_path(other_lines()[0])
    jars = {"spark.jars": str(other), "spark.sql.extensions": EXTENSION}
    assert refresh(tmp_path / "store", **jars)["status"] == "refreshed"


@pytest.fixture
def reader(tmp_path: Path) -> dict[str, str]:
    """The environment of a reader who has followed the page in an empty Airflow home."""
    project, home, elsewhere = (tmp_path / name for name in ("dbt", "home", "elsewhere"))
    for folder in (project / "models", home / "dags", elsewhere):
        folder.mkdir(parents=True)

    def theirs(text: str) -> str:
        return text.replace("/opt/dbt", str(project)).replace("/data/joinery", str(tmp_path / "store"))

    profile, sources = (
        next(theirs(block.text) for block in blocks(PAGE, "yaml") if block.text.startswith(word))
        for word in ("my_project:", "sources:")
    )
    (project / "profiles.yml").write_text(profile)
    (project / "models" / "sources.yml").write_text(sources)
    (project / "models" / "one.sql").write_text("select 1 as one")
    declared = {"name": "my_project", "profile": "my_project", "config-version": 2}
    (project / "dbt_project.yml").write_text(yaml.safe_dump(declared))
    (dag,) = (block.text for block in blocks(PAGE, "python") if "joinery_refresh_dag(" in block.text)
    (home / "dags" / "nightly.py").write_text(dag)
    (exports,) = (theirs(block.text) for block in blocks(PAGE, "sh") if "AIRFLOW_CONN" in block.text)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AIRFLOW", "DBT_", "JOINERY_", "PYTEST", "PYTHON", "PYSPARK"))
    }
    environment = kept | {
        "AIRFLOW_HOME": str(home),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PWD": str(elsewhere),
    }
    bash(f"{exports}\nenv -0 > {tmp_path}/environment", environment)
    exported = (tmp_path / "environment").read_text().split("\0")
    environment = dict(pair.split("=", 1) for pair in exported if pair)
    bash(f"cd {project}; JOINERY_JAR={jar_path()} dbt parse", environment)
    bash("airflow db migrate", environment)
    return environment


def bash(script: str, environment: dict[str, str]) -> str:
    """Run commands; returns what they print."""
    done = subprocess.run(
        ["bash", "-c", script], cwd=environment["PWD"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr + done.stdout


def test_the_page_as_it_is_written_from_a_bare_airflow_home(reader: dict[str, str]) -> None:
    def shown(command: str) -> list[dict[str, str]]:
        # the last line is the answer: Airflow logs to the same stream
        found: list[dict[str, str]] = json.loads(bash(f"{command} --output json", reader).splitlines()[-1])
        return found

    def night(**more: str) -> tuple[str, dict[str, str], str]:
        log = bash("airflow dags test joinery_refresh || true", reader | more)
        latest = max(shown("airflow dags list-runs joinery_refresh"), key=lambda run: run["run_id"])
        tasks = shown(f"airflow tasks states-for-dag-run joinery_refresh '{latest['run_id']}'")
        return latest["state"], {task["task_id"]: task["state"] for task in tasks}, log

    state, tasks, log = night()
    # the profile's jar is missing: refreshes do not need it, and dbt names the variable that it misses
    assert "Env var required but not provided: 'JOINERY_JAR'" in log
    assert (state, tasks["sources_refreshed"], tasks["dbt_build"]) == ("failed", "success", "failed")

    state, tasks, log = night(JOINERY_JAR=str(jar_path()))
    assert (state, tasks["dbt_build"], tasks["all_refreshed"]) == ("success", "success", "success"), log
    assert tasks["before_models.refresh"] == "skipped"
    assert "raw.flights does not exist yet" in log
