"""last_join() on classic DataFrames; tests/integration/test_connect.py has it on Spark Connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from spark_joinery import last_join
from spark_joinery.errors import InvalidArgumentError
from support.answers import assert_operator, assert_same_rows


@pytest.fixture(scope="module")
def flights(spark: SparkSession) -> Iterator[DataFrame]:
    rows = [(1, "EWR", 10), (2, "EWR", 20), (3, "JFK", 5), (4, None, 10), (5, "LGA", 10), (1, "EWR", 10)]
    frame = spark.createDataFrame(rows, "flight INT, origin STRING, departs INT")
    frame.createOrReplaceTempView("flights")
    yield frame
    spark.catalog.dropTempView("flights")


@pytest.fixture(scope="module")
def weather(spark: SparkSession) -> Iterator[DataFrame]:
    rows = [
        ("EWR", 10, 1.0),
        ("EWR", 15, 2.0),
        ("EWR", 25, None),
        ("EWR", None, 4.0),
        ("JFK", 7, 5.0),
        ("JFK", 6, 5.0),
        (None, 9, 6.0),
    ]
    frame = spark.createDataFrame(rows, "origin STRING, observed INT, wind DOUBLE")
    frame.createOrReplaceTempView("weather")
    yield frame
    spark.catalog.dropTempView("weather")


def test_names_are_joined_as_by_using(spark: SparkSession, flights: DataFrame, weather: DataFrame) -> None:
    for on in ("origin", ["origin"], ("origin",)):
        joined = last_join(flights, weather, on=on, order_by="observed")
        assert_same_rows(
            joined, spark.sql("SELECT * FROM flights f LAST JOIN weather w ORDER BY w.observed USING (origin)")
        )
        assert joined.columns == ["origin", "flight", "departs", "observed", "wind"]
        assert_operator(joined, "BroadcastLastJoin")  # adaptive execution sees how small the right side is


def test_condition_and_last_by_time(flights: DataFrame, weather: DataFrame) -> None:
    on = (flights.origin == weather.origin) & (weather.observed <= flights.departs)
    found = last_join(flights, F.broadcast(weather), on=on, order_by=weather.observed).select("flight", "wind")
    assert sorted(map(tuple, found.collect())) == [(1, 1.0), (1, 1.0), (2, 2.0), (3, None), (4, None), (5, None)]
    assert_operator(found, "BroadcastLastJoin")


# functions, because a classic Column cannot be made before there is a session
@pytest.mark.parametrize(
    ("order_by", "wind_at_newark"),
    [
        (lambda: "observed", None),  # 25 is last
        (lambda: F.col("observed"), None),
        (lambda: F.col("observed").desc(), 4.0),  # NULLS LAST is the default under DESC
        (lambda: F.col("observed").desc_nulls_first(), 1.0),
        (lambda: F.col("observed").asc_nulls_last(), 4.0),
        (lambda: ["wind"], 4.0),
        (lambda: [F.col("wind") > 100, F.col("observed").desc_nulls_first()], 1.0),
        (lambda: -F.col("observed"), 1.0),
    ],
)
def test_order_by_decides_which_is_last(
    flights: DataFrame, weather: DataFrame, order_by: Callable[[], Any], wind_at_newark: float | None
) -> None:
    joined = last_join(flights, weather, on="origin", order_by=order_by())
    assert {row.wind for row in joined.where("origin = 'EWR'").collect()} == {wind_at_newark}


def test_without_order_any_one_match(flights: DataFrame, weather: DataFrame) -> None:
    rows = last_join(flights, weather, on="origin").collect()
    assert sorted(row.flight for row in rows) == [1, 1, 2, 3, 4, 5]
    matches = {tuple(row) for row in weather.collect()}
    assert all((row.origin, row.observed, row.wind) in matches for row in rows if row.flight in (1, 2, 3))


def test_right_filters_come_before_and_filters_on_the_result_after(flights: DataFrame, weather: DataFrame) -> None:
    before = last_join(flights, weather.where("wind IS NOT NULL"), on="origin", order_by="observed")
    assert {row.wind for row in before.where("origin = 'EWR'").collect()} == {2.0}
    after = last_join(flights, weather, on="origin", order_by="observed").where("wind IS NOT NULL")
    assert {row.origin for row in after.collect()} == {"JFK"}  # Newark's last one has no wind


def test_chain_and_self_join(flights: DataFrame, weather: DataFrame) -> None:
    later = flights.alias("later")
    on = (F.col("now.origin") == F.col("later.origin")) & (F.col("now.departs") < F.col("later.departs"))
    next_flight = last_join(flights.alias("now"), later, on=on, order_by=F.col("departs").desc())
    next_flight = next_flight.select("now.flight", "now.origin", F.col("later.flight").alias("next"))
    chained = last_join(next_flight, weather, on="origin", order_by="observed").select("flight", "next", "observed")
    rows = sorted(map(tuple, chained.collect()), key=repr)
    assert rows == [(1, 2, 25), (1, 2, 25), (2, None, 25), (3, None, 7), (4, None, None), (5, None, None)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"on": 3}, "on must be a column name, a list of column names or a Column, not int (3)"),
        ({"on": None}, "on must be a column name, a list of column names or a Column, not None"),
        ({"on": []}, "on is an empty list"),
        ({"on": ["origin", 3]}, "the list given as on must hold column names, not int (3)"),
        ({"on": "origin", "order_by": 3}, "order_by must be a column name, a Column or a list of these, not int (3)"),
        ({"on": "origin", "order_by": []}, "order_by is an empty list; leave it out if any match will do"),
        ({"on": "origin", "order_by": [None]}, "order_by must hold column names and Columns, not None"),
        ({"on": "origin", "right": "weather"}, "right must be a DataFrame, not str ('weather')"),
    ],
)
def test_wrong_arguments_are_named(
    flights: DataFrame, weather: DataFrame, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        last_join(flights, **{"right": weather, **arguments})
    assert message in str(raised.value)


def test_a_list_of_conditions_says_how_to_combine_them(flights: DataFrame, weather: DataFrame) -> None:
    with pytest.raises(InvalidArgumentError, match="combine conditions with &"):
        last_join(flights, weather, on=[flights.origin == weather.origin])  # type: ignore[list-item]


WITHOUT_THE_JAR = """
import json
from pyspark.sql import SparkSession, functions as F
from spark_joinery import JoineryError, last_join
from spark_joinery.plan_report import explain_sql

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
left, right = spark.range(3), spark.range(4)
messages = {}
for name, action in {
    "last_join": lambda: last_join(left, right, on="id"),
    "marker": lambda: left.join(right.filter(F.call_function("joinery_last_join_order")), "id", "left").collect(),
    "explain": lambda: explain_sql(spark, "SELECT 1"),
}.items():
    try:
        action()
    except Exception as error:
        messages[name] = [isinstance(error, JoineryError), str(error)]
print(json.dumps(messages))
"""


def test_without_the_jar_one_clear_message() -> None:
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", WITHOUT_THE_JAR]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    messages = json.loads(done.stdout)
    assert messages["last_join"][0]
    assert "configure_spark" in messages["last_join"][1]
    assert messages["explain"][0]
    assert "configure_spark" in messages["explain"][1]
    # the function that marks the order is what makes such a join fail, rather than give every match
    assert "joinery_last_join_order" in messages["marker"][1]
