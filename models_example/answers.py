"""The Spark work of the demo: dbt builds in one JVM, the plain SQL beside them, and the comparison of their answers."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from dbt.cli.main import dbtRunner
from settings import EXAMPLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# model -> the operators of the jar that run its query; where none of them is in the plan, the jar did nothing
OPERATORS = {
    "flight_weather": ("BroadcastLastJoin", "ShuffledHashLastJoin", "SortMergeLastJoin"),
    "flights_in_storms": ("BroadcastRangeJoin", "ShuffledRangeJoin"),
    "carrier_delays": ("SlidingWindow",),
    "flights_by_manufacturer": ("joinery_might_contain",),
}
SEGMENT_TREE = "spark.sql.window.segmentTree.enabled"


class DemoError(Exception):
    """A step of the demo failed; the message says which and where to look."""


@dataclass(frozen=True)
class Built:
    """What one `dbt build` made: seconds and compiled SQL per model, and how many data tests passed."""

    seconds: Mapping[str, float]
    sql: Mapping[str, str]
    tests: int


@dataclass(frozen=True)
class Plain:
    """A run of plain SQL: its seconds, or, if it was stopped, the date of the measurement."""

    seconds: float | None
    stopped_on: str | None = None


def dbt(command: str, target: str, variables: Mapping[str, str], *more: str) -> Built:
    """Run one dbt command in this process, so that all of them share its JVM.

    Args:
        command: `parse`, `compile`, `build` or `deps`.
        target: target of `profiles.yml`.
        variables: dbt variables.
        more: further command-line arguments.

    Returns:
        What was built; empty for commands that build nothing.

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
        {run.node.name: run.execution_time for run in models},
        {run.node.name: run.node.compiled_code for run in models},
        sum(run.node.resource_type == "test" for run in results),
    )


def operator_in_plan(spark: SparkSession, model: str, sql: str) -> str | None:
    """Return the operator of the jar that would run this model's SQL, None if stock Spark runs all of it."""
    plan = spark.sql(f"EXPLAIN {sql}").collect()[0][0]
    return next((operator for operator in OPERATORS[model] if operator in plan), None)


def run_plain(spark: SparkSession, sql: str, output: Path, limit: float) -> float | None:
    """Run plain SQL with Spark's default window frame and stop it after a while.

    Args:
        spark: the session.
        sql: query.
        output: directory for its rows, as Parquet.
        limit: seconds.

    Returns:
        Its seconds, None if it was stopped.
    """
    context = spark.sparkContext
    stopped = threading.Event()

    def stop() -> None:
        stopped.set()
        context.cancelJobGroup("plain")

    context.setJobGroup("plain", f"plain SQL, at most {limit:.0f} s", interruptOnCancel=True)
    spark.conf.set(SEGMENT_TREE, "false")
    timer = threading.Timer(limit, stop)
    timer.start()
    started = time.monotonic()
    try:
        spark.sql(sql).write.mode("overwrite").parquet(str(output))
    except Exception:
        if stopped.is_set():
            return None
        raise
    finally:
        timer.cancel()
        spark.conf.unset(SEGMENT_TREE)
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    return time.monotonic() - started


class StoppedQueries:
    """Remembers plain queries that were stopped, so that only the first demo waits for them.

    Args:
        file: JSON file to keep them in.
        context: whatever else decides about the time (data, Spark version), part of each key.
    """

    def __init__(self, file: Path, context: str) -> None:
        self._file = file
        self._context = context
        self._dates: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}

    def run(self, spark: SparkSession, sql: str, output: Path, limit: float) -> Plain:
        """Run the query, unless the same one was stopped at this limit before."""
        key = hashlib.sha256(f"{self._context}|{limit}|{sql}".encode()).hexdigest()
        if key in self._dates:
            return Plain(None, self._dates[key])
        seconds = run_plain(spark, sql, output, limit)
        if seconds is None:
            self._dates[key] = date.today().isoformat()
            self._file.write_text(json.dumps(self._dates, indent=1))
        return Plain(seconds, None if seconds is not None else self._dates[key])


def same_rows(one: DataFrame, other: DataFrame) -> bool:
    """Say whether two results hold the same rows equally often, in any order; NULL equals NULL, values exactly."""
    if sorted(one.columns) != sorted(other.columns):
        return False
    other = other.select(one.columns)
    return one.count() == other.count() and one.exceptAll(other).isEmpty()


def differences_outside_spark(home: Path, flights_schema: str, model: str) -> int:
    """Compute the weather per flight in DuckDB from the source files and count the rows in which Spark's differ.

    Args:
        home: absolute directory of all state.
        flights_schema: schema of the flights the model was built from.
        model: schema and table that holds the model `flight_weather`.

    Returns:
        Rows in one answer and not in the other, 0 where they are equal.
    """

    def files(table: str) -> str:
        schema, name = table.split(".")
        return f"read_parquet('{home}/warehouse/{schema}.db/{name}/*.parquet')"

    sql = (EXAMPLE / "outside_spark.sql").read_text()
    query = sql.format(
        flights=files(f"{flights_schema}.flights"), weather=files("nycflights.weather"), model=files(model)
    )
    with duckdb.connect() as connection:
        (differences,) = connection.execute(query).fetchall()[0]
    return int(differences)
