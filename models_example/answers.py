"""Whether the answers are equal: between the modes, plain SQL, and a query engine that is not Spark."""

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


def compare(spark: SparkSession, timings: Timings, schemas: dict[str, str], plain: Path) -> int:
    """Compare the extension's answers with the portable ones, and with those of plain SQL that finished.

    Args:
        spark: the session.
        timings: per model the times; the last one says whether plain SQL finished.
        schemas: schema of the models per mode.
        plain: directory with the rows of plain SQL, one folder per model.

    Returns:
        How many answers were compared.

    Raises:
        DemoError: two of them differ.
    """
    compared = 0
    for model, times in timings.items():
        answer = spark.table(f"{schemas['extension']}.{model}")
        others = {"portable mode": spark.table(f"{schemas['portable']}.{model}")}
        if times[-1].seconds is not None:
            others["plain SQL"] = spark.read.parquet(str(plain / model))
        for name, other in others.items():
            compared += 1
            if not same_rows(answer, other):
                raise DemoError(f"{model}: the answer of {name} differs from that of the extension")
    return compared
