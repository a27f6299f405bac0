"""The programs of the pipeline as the demo runs them: other processes, Airflow, one Spark session, dbt inside it."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession
from settings import EXAMPLE, spark_confs
from spark_joinery import configure_spark


class DemoError(Exception):
    """A step of the demo failed; the message says which and where to look."""


@dataclass(frozen=True)
class Built:
    """Result of one dbt command: compiled SQL per model or analysis, and how many data tests passed."""

    sql: Mapping[str, str]
    tests: int


def run(name: str, command: list[str], home: Path, **variables: str) -> str:
    """Run another program, its output in `logs/<name>.log`.

    Steps that use Spark before dbt run as programs of their own, as the embedded metastore serves one JVM at a time.

    Args:
        name: name of the log file.
        command: program and arguments.
        home: absolute directory of all state.
        variables: added to the environment.

    Returns:
        The program's output.

    Raises:
        DemoError: the program failed; the message holds the end of its output.
    """
    log = home / "logs" / f"{name}.log"
    with log.open("w") as output:
        done = subprocess.run(command, env={**os.environ, **variables}, stdout=output, stderr=subprocess.STDOUT)
    text = log.read_text()
    if done.returncode:
        raise DemoError(f"{shlex.join(command)} failed, see {log}:\n" + "\n".join(text.splitlines()[-25:]))
    return text


@dataclass(frozen=True)
class Refreshed:
    """Result of the nightly run for one artifact."""

    kind: str
    relation: str
    status: str
    mode: str | None
    rows: int
    seconds: float


def refresh_through_airflow(home: Path, variables: Mapping[str, str], models: str) -> list[Refreshed]:
    """Run the nightly DAG once in a real Airflow (SQLite below the home directory).

    Args:
        home: absolute directory of all state.
        variables: dbt variables.
        models: which models dbt builds between the refresh of sources and that of models.

    Returns:
        The result for each artifact, in the order in which they were refreshed.

    Raises:
        DemoError: a task did not succeed.
    """
    extra = {
        "store": str(home / "store"),
        "metastore_dir": str(home / "metastore"),
        "warehouse_dir": str(home / "warehouse"),
        "conf": spark_confs(home),
    }
    connection = {"conn_type": "joinery", "host": "local[*]", "extra": extra}
    programs = Path(sys.executable).parent
    options = ["--vars", json.dumps(dict(variables)), "--target-path", str(home / "dbt" / "nightly")]
    # cautious: skip tests that also need models built later
    options += ["--select", models, "--indirect-selection", "cautious"]
    # use the parse result of the command that wrote the manifest: parsing takes longer than most models
    options += ["--partial-parse-file-path", str(home / "dbt" / "partial_parse.msgpack")]
    build = [str(programs / "dbt"), "--no-use-colors", "build", "--target", "extension", *options]
    environment = {
        "AIRFLOW_HOME": str(home / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(EXAMPLE / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW_CONN_JOINERY_DEFAULT": json.dumps(connection),
        "JOINERY_MANIFEST": str(home / "dbt" / "manifest.json"),
        "JOINERY_DBT_BUILD": shlex.join(build),
    }
    airflow = str(programs / "airflow")
    migrated = home / "airflow" / ".migrated"
    if not migrated.exists():
        run("airflow-db", [airflow, "db", "migrate"], home, **environment)
        migrated.touch()
    run("airflow", [airflow, "dags", "test", "joinery_refresh"], home, **environment)
    with closing(sqlite3.connect(home / "airflow" / "airflow.db")) as database:
        return _last_run(database, home)


def _last_run(database: sqlite3.Connection, home: Path) -> list[Refreshed]:
    """Read the results of the last run's tasks from Airflow's database."""
    (run_id,) = database.execute(
        "SELECT run_id FROM dag_run WHERE dag_id = 'joinery_refresh' ORDER BY id DESC LIMIT 1"
    ).fetchone()
    states = database.execute("SELECT task_id, state FROM task_instance WHERE run_id = ?", [run_id])
    if failed := [f"{task} ({state})" for task, state in states if state != "success"]:
        raise DemoError(f"tasks of joinery_refresh did not succeed, see {home / 'logs' / 'airflow.log'}: {failed}")
    returned = "SELECT value FROM xcom WHERE run_id = ? AND key = 'return_value' ORDER BY timestamp"
    tasks = [json.loads(value) for (value,) in database.execute(returned, [run_id])]
    # Airflow keeps JSON in a column of type JSON
    tasks = [json.loads(task) if isinstance(task, str) else task for task in tasks]
    results = [result for task in tasks for result in task]
    if skipped := [result["reason"] for result in results if result["status"] == "skipped"]:
        raise DemoError(f"joinery_refresh passed over what the demo should have loaded: {skipped}")
    names = [field.name for field in fields(Refreshed)]
    return [Refreshed(**{name: result[name] for name in names}) for result in results]


@contextmanager
def spark_session(home: Path, *, extension: bool) -> Iterator[SparkSession]:
    """Start a session for dbt and for queries, one after another in the same JVM.

    Args:
        home: absolute directory of all state; the JVM's stderr goes to `logs/spark.log`.
        extension: whether the session has the extension. The first session loads the jar, and it stays in the JVM;
            without the extension nothing calls it.
    """
    stderr = os.dup(2)
    with (home / "logs" / "spark.log").open("a") as log:
        os.dup2(log.fileno(), 2)
    try:
        builder = SparkSession.builder.master("local[*]").config(map=spark_confs(home))
        if extension:
            builder = configure_spark(builder)
        else:
            # set to nothing, because the settings of a JVM's first session are the defaults of all later ones
            builder = builder.config("spark.sql.extensions", "").config("spark.jars", "")
        spark = builder.enableHiveSupport().getOrCreate()
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
    try:
        yield spark
    finally:
        spark.stop()


def dbt(command: str, target: str, variables: Mapping[str, str], *more: str) -> Built:
    """Run one dbt command in this process, so that all of them share its JVM.

    Args:
        command: `parse`, `compile`, `build` or `deps`.
        target: target of `profiles.yml`.
        variables: dbt variables.
        more: further command-line arguments.

    Returns:
        The models and tests that were built; empty for commands that build nothing.

    Raises:
        DemoError: the command, a model or a data test failed.
    """
    arguments = ["--quiet", command]
    if command != "deps":
        arguments += ["--target", target, "--vars", json.dumps(dict(variables))]
    outcome = dbtRunner().invoke([*arguments, *more])
    if not outcome.success:
        raise DemoError(f"`dbt {command}` (target {target}) failed: {outcome.exception or 'see the messages above'}")
    results = list(getattr(outcome.result, "results", []))
    models = [run for run in results if run.node.resource_type in ("model", "analysis")]
    return Built(
        {run.node.name: run.node.compiled_code for run in models},
        sum(run.node.resource_type == "test" for run in results),
    )
