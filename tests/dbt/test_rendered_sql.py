"""The macros render the SQL of golden files, which other parsers of Spark's SQL accept, too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sqlglot
from sqlfluff.core import FluffConfig, Linter
from support.dbt_project import Dbt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt
GOLDEN = Path(__file__).parents[1] / "golden" / "dbt"


# tables from which the macros read types; other names are CTEs, whose types dbt does not know
TABLES = {
    "flights": "flight_id int, origin string, carrier string, departs_at timestamp, dep_delay double",
    "weather": "origin string, observed_at timestamp, temperature double",
    "fares": "origin string, valid_from timestamp, valid_to timestamp, price double",
}


def air(name: str) -> dict[str, str]:
    """A table of the schema `air`."""
    return {"schema": "air", "identifier": name}


WEATHER = {"on": ["origin"], "columns": ["observed_at", "temperature"]}
FARES = {"columns": ["price"], "as_of": {"left": "departs_at"}, "valid_from": "valid_from", "valid_to": "valid_to"}
OBSERVED = {"left": "departs_at", "right": "observed_at"}
DAY_BEFORE = {**OBSERVED, "strict": True, "tolerance": "1 day"}
TEMPERATURE: dict[str, Any] = {"columns": ["temperature"], "as_of": OBSERVED}
DELAY = [{"name": "average_delay", "expression": "avg(dep_delay)"}]
WINDOW: dict[str, Any] = {"relation": air("flights"), "partition_by": ["carrier"], "expressions": DELAY}
INTERVALS: dict[str, Any] = {"left": air("flights"), "right": air("storms"), "columns": ["storm_id"]}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "last_join_as_of": (
        "last_join",
        {**WEATHER, "left": air("flights"), "right": air("weather"), "as_of": OBSERVED},
    ),
    "last_join_latest": (
        "last_join",
        {**WEATHER, "left": "flights", "right": "weather", "order_by": [{"column": "observed_at", "nulls": "last"}]},
    ),
    "last_join_valid": ("last_join", {**FARES, "left": air("flights"), "right": air("fares"), "on": ["origin"]}),
    "last_join_several": (
        "last_join",
        {
            "left": air("flights"),
            "right": [
                {"relation": air("weather"), **TEMPERATURE},
                {"relation": air("weather"), "prefix": "day_before_", **TEMPERATURE, "as_of": DAY_BEFORE},
                {"relation": air("fares"), "prefix": "fare_", **FARES},
            ],
            "on": ["origin"],
        },
    ),
    "range_join": (
        "range_join",
        {
            **INTERVALS,
            "on": ["origin"],
            "left_point": "departs_at",
            "right_interval": ["starts_at", "ends_at"],
            "bounds": "[)",
        },
    ),
    "range_join_full": (
        "range_join",
        {
            **INTERVALS,
            "on": ["origin"],
            "left_interval": ["departs_at", "left_at"],
            "right_interval": ["starts_at", "ends_at"],
            "how": "full",
        },
    ),
    "bloom_filter_join": (
        "bloom_filter_join",
        {
            "left": air("flights"),
            "right": air("planes"),
            "on": ["tailnum"],
            "where": "manufacturer = 'CESSNA'",
            "columns": ["seats"],
        },
    ),
    "skew_window_rows": (
        "skew_window",
        {**WINDOW, "order_by": ["departs_at", "flight_id"], "frame": {"type": "rows", "preceding": 9999}},
    ),
    "skew_window_range": (
        "skew_window",
        {
            **WINDOW,
            "order_by": ["departs_at"],
            "frame": {"type": "range", "preceding": "2 hours"},
            "distribution": "distribution",
        },
    ),
    "test_row_count_preserved": ("test_row_count_preserved", {"model": air("a"), "compare_model": air("b")}),
    "test_no_future_rows": (
        "test_no_future_rows",
        {"model": air("flights"), "column_name": "observed_at", "not_after": "departs_at"},
    ),
    "test_intervals_do_not_overlap": (
        "test_intervals_do_not_overlap",
        {"model": air("fares"), "start": "valid_from", "end": "valid_to", "partition_by": ["origin"]},
    ),
    "test_skew_below": (
        "test_skew_below",
        {"model": air("flights"), "partition_by": ["carrier"], "max_share": 0.2, "min_rows": 1000},
    ),
}
# generic tests are the same in both modes
FOR_THE_JAR = [name for name in CASES if not name.startswith("test_")]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, dbt: Dbt) -> Iterator[None]:
    """Create the schema `air` with its tables."""
    spark.sql("create schema air")
    for name, columns in TABLES.items():
        spark.sql(f"create table air.{name} ({columns}) using parquet")
    yield
    spark.sql("drop schema air cascade")


@pytest.fixture(scope="module")
def sqlfluff() -> Linter:
    """SQLFluff's parser of Spark's dialect."""
    return Linter(config=FluffConfig(overrides={"dialect": "sparksql"}))


@pytest.mark.parametrize("name", CASES)
def test_portable_sql_is_that_of_the_file_and_parses(dbt: Dbt, sqlfluff: Linter, name: str) -> None:
    macro, arguments = CASES[name]
    sql = dbt.render(macro, variables={"joinery_min_part_rows": 10000}, **arguments).strip() + "\n"
    assert sql == (GOLDEN / f"{name}.portable.sql").read_text()
    assert sqlglot.parse_one(sql, dialect="spark").find(sqlglot.exp.Select)
    assert [str(violation) for violation in sqlfluff.parse_string(sql).violations] == []


@pytest.mark.parametrize("name", FOR_THE_JAR)
def test_sql_for_the_jar_is_that_of_the_file(dbt: Dbt, name: str) -> None:
    macro, arguments = CASES[name]
    sql = dbt.render(macro, "extension", **arguments).strip() + "\n"
    assert sql == (GOLDEN / f"{name}.extension.sql").read_text()
