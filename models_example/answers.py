"""Compares the answers of both modes, of plain SQL, and of a query engine that is not Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from pipeline import DemoError
from settings import EXAMPLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from timing import Timings


def same_rows(one: DataFrame, other: DataFrame) -> bool:
    """Say whether two results hold the same rows equally often, in any order; NULL equals NULL, values exactly."""
    if sorted(one.columns) != sorted(other.columns):
        return False
    other = other.select(one.columns)
    return one.count() == other.count() and one.exceptAll(other).isEmpty()


def differences_outside_spark(home: Path, flights_schema: str, model: str) -> int:
    """Compute the weather per flight in DuckDB from the source files and count the rows that differ from Spark's.

    Args:
        home: absolute directory of all state.
        flights_schema: schema of the flights the model was built from.
        model: schema and table that holds the model `flight_weather`.

    Returns:
        Rows in one answer and not in the other, 0 if they are equal.
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


def compare(spark: SparkSession, timings: Timings, schema: str, timed: Path) -> int:
    """Compare the extension's answers with those of portable and plain SQL, if these queries finished.

    Args:
        spark: the session.
        timings: times per model, which say which queries finished.
        schema: schema of the models built with the extension.
        timed: directory with the rows, in folders `portable/<model>` and `plain/<model>`.

    Returns:
        How many answers were compared.

    Raises:
        DemoError: two answers differ.
    """
    compared = 0
    for model, times in timings.items():
        answer = spark.table(f"{schema}.{model}")
        for mode, timing in zip(("portable", "plain"), times[1:], strict=True):
            if timing and timing.seconds is not None:
                compared += 1
                if not same_rows(answer, spark.read.parquet(str(timed / mode / model))):
                    raise DemoError(f"{model}: the answer of {mode} SQL differs from that of the extension")
    return compared
