"""The nightly pipeline end to end, on real data: run it with `make demo`.

Load flights -> read what the dbt project declares -> refresh it through Airflow -> build the models with the jar and
without it -> run the SQL a user would write first beside them -> compare all answers and times.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pyspark
from answers import (
    OPERATORS,
    Built,
    DemoError,
    Plain,
    StoppedQueries,
    dbt,
    differences_outside_spark,
    operator_in_plan,
    same_rows,
)
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table
from settings import EXAMPLE, demo_home, environment, spark_confs
from spark_joinery import configure_spark, jar_path

LIMIT = 60.0  # seconds a plain query may take
SCHEMAS = {"extension": "joinery_example", "portable": "joinery_example_portable"}
DATA = {"flights_schema": "nycflights_large"}
console = Console(highlight=False)


class Step:
    """One numbered line of output: what is done, and then what came out of it and how long it took."""

    count = 0

    @classmethod
    @contextmanager
    def run(cls, title: str) -> Iterator[list[str]]:
        """Show a spinner while the body runs; the body appends its outcome to the list it gets."""
        cls.count += 1
        outcome: list[str] = []
        started = time.monotonic()
        with console.status(f"{cls.count}. {title} ..."):
            yield outcome
        took = time.monotonic() - started
        console.print(f"[green]✓[/] {cls.count}. {title} [dim]({took:.0f} s)[/] {'; '.join(outcome)}")


def run(name: str, command: list[str], home: Path, **variables: str) -> str:
    """Run another program, its output in `logs/<name>.log`.

    A program of its own wherever Spark is used before dbt: the embedded metastore serves one JVM at a time.

    Args:
        name: of the log file.
        command: program and arguments.
        home: absolute directory of all state.
        variables: added to the environment.

    Returns:
        What it printed.

    Raises:
        DemoError: it failed; the message holds the end of its output.
    """
    log = home / "logs" / f"{name}.log"
    with log.open("w") as output:
        done = subprocess.run(command, env={**os.environ, **variables}, stdout=output, stderr=subprocess.STDOUT)
    text = log.read_text()
    if done.returncode:
        raise DemoError(f"{shlex.join(command)} failed, see {log}:\n" + "\n".join(text.splitlines()[-25:]))
    return text


def refresh_through_airflow(home: Path) -> str:
    """Run the nightly DAG once in a real Airflow (SQLite below the home directory) and return its log."""
    confs = {
        key: value
        for key, value in spark_confs(home).items()
        if not key.startswith(("spark.sql.warehouse", "spark.hadoop"))
    }
    extra = {
        "store": str(home / "store"),
        "metastore_dir": str(home / "metastore"),
        "warehouse_dir": str(home / "warehouse"),
        "conf": confs,
    }
    connection = {"conn_type": "joinery", "host": "local[*]", "extra": extra}
    variables = {
        "AIRFLOW_HOME": str(home / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(EXAMPLE / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW_CONN_JOINERY_DEFAULT": json.dumps(connection),
        "JOINERY_MANIFEST": str(home / "dbt" / "manifest.json"),
    }
    airflow = str(Path(sys.executable).with_name("airflow"))
    if not (home / "airflow" / "airflow.db").exists():
        run("airflow-db", [airflow, "db", "migrate"], home, **variables)
    return run("airflow", [airflow, "dags", "test", "joinery_refresh"], home, **variables)


@contextmanager
def spark_session(home: Path) -> Iterator[SparkSession]:
    """Start the JVM that dbt and the plain SQL share; what it has to say on stderr goes to `logs/spark.log`."""
    stderr = os.dup(2)
    with (home / "logs" / "spark.log").open("w") as log:
        os.dup2(log.fileno(), 2)
    try:
        builder = configure_spark(SparkSession.builder.master("local[*]").config(map=spark_confs(home)))
        spark = builder.enableHiveSupport().getOrCreate()
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
    yield spark
    spark.stop()


def summary(spark: SparkSession, built: dict[str, Built], plain: dict[str, Plain], home: Path) -> Table:
    """Compare all answers and make the table of the times.

    Raises:
        DemoError: two answers differ.
    """
    table = Table(title=f"Seconds on {spark.table(DATA['flights_schema'] + '.flights').count():,} flights")
    for heading in ("model", "rows", "with the jar", "portable", "plain SQL", "answers"):
        table.add_column(heading, justify="left" if heading in ("model", "answers") else "right")
    for model in OPERATORS:
        answer = spark.table(f"{SCHEMAS['extension']}.{model}")
        others = {"portable": spark.table(f"{SCHEMAS['portable']}.{model}")}
        seconds, stopped_on = plain[model].seconds, plain[model].stopped_on
        if seconds is not None:
            others["plain"] = spark.read.parquet(str(home / "plain" / model))
        for name, other in others.items():
            if not same_rows(answer, other):
                raise DemoError(f"{model}: the {name} answer differs from the one of the extension")
        # no time for the jar where it did not run the query: it would be Spark's own
        operator = operator_in_plan(spark, model, built["extension"].sql[model])
        table.add_row(
            model,
            f"{answer.count():,}",
            f"[bold]{built['extension'].seconds[model]:.1f}[/] {operator}" if operator else "no operator yet",
            f"{built['portable'].seconds[model]:.1f}",
            f"> {LIMIT:.0f} s [dim]({stopped_on})[/]" if seconds is None else f"{seconds:.1f}",
            " = ".join(["jar" if operator else "extension", *others]),
        )
    return table


def demo(home: Path, rows: int) -> None:
    """Run all steps; see the module's description."""
    (home / "logs").mkdir(parents=True, exist_ok=True)
    variables = environment(home, jar_path())
    os.environ.update(variables)
    exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in variables.items())
    (home / "env.sh").write_text(exports)

    with Step.run("Load nycflights13 into Spark tables") as outcome:
        lines = run("load", [sys.executable, str(EXAMPLE / "load_sources.py"), "--rows", str(rows)], home).splitlines()
        outcome += [" ".join(line.split()) for line in lines if line.endswith(".flights")]
        data = (home / "loaded.json").read_text()
    with Step.run("Read what the dbt project declares") as outcome:
        dbt("deps", "portable", {})
        dbt("parse", "portable", DATA)
        outcome.append(str(home / "dbt" / "manifest.json"))
    with Step.run("Refresh it through Airflow: dag joinery_refresh") as outcome:
        refresh_through_airflow(home)
    with spark_session(home) as spark:
        built = {}
        for mode, kind in (("extension", "with the jar"), ("portable", "as portable Spark SQL")):
            with Step.run(f"Build and test the dbt models {kind}") as outcome:
                target = ["--target-path", str(home / "dbt" / mode)]
                built[mode] = dbt("build", mode, {**DATA, "joinery_mode": mode}, *target)
                outcome.append(f"{len(built[mode].seconds)} models, {built[mode].tests} data tests passed")
        with Step.run(f"Run the SQL a user would write first, at most {LIMIT:.0f} s each"):
            compiled = dbt("compile", "extension", DATA, "--select", "path:plain").sql
            stopped = StoppedQueries(home / "plain_stopped.json", f"{data}|{pyspark.__version__}")
            plain = {
                model: stopped.run(spark, compiled[f"plain_{model}"], home / "plain" / model, LIMIT)
                for model in OPERATORS
            }
        with Step.run("Compare all answers, row by row") as outcome:
            table = summary(spark, built, plain, home)
            model = f"{SCHEMAS['extension']}.flight_weather"
            if differences := differences_outside_spark(home, DATA["flights_schema"], model):
                raise DemoError(f"flight_weather: {differences} rows differ from the answer computed by DuckDB")
            outcome.append("all equal; flight_weather also equals the answer computed by DuckDB")
    console.print(table)


@click.command()
@click.option("--rows", default=1_000_000, show_default=True, type=click.IntRange(1), help="Least number of flights.")
def main(rows: int) -> None:
    """Run the example end to end below JOINERY_DEMO_HOME (default target/demo) and show what it took."""
    home = demo_home()
    try:
        demo(home, rows)
    except DemoError as error:
        console.print(f"[red]✗[/] {error}", markup=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
