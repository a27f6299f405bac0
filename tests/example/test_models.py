"""The example's models, built by real dbt on real data, answer right with and without the jar, and in both modes."""

from __future__ import annotations

import re

import duckdb
import pytest

from .conftest import EXAMPLE, Example

MODELS = [
    "flight_weather", "delays", "overtaken_flights", "carrier_delays", "flights_by_manufacturer", "flight_features",
    "airline_punctuality",
]  # fmt: skip
IN_BOTH_MODES = [model for model in MODELS if model != "overtaken_flights"]  # see build.py
FIRST = "extension:extension:build --exclude-resource-type test --select +airline_punctuality"  # see build.py
EXTENSION = "extension:extension:build"
PORTABLE = "portable:portable:build --exclude overtaken_flights+"
EXTENSION_WITHOUT_JAR = "portable:extension:build"
PLAIN = "portable:portable:compile --select path:plain overtaken_flights"
# Names that occur in a plan only with the extension.
OURS = re.compile(r"\w*LastJoin\w*|\w*RangeJoin\w*|SlidingWindow\w*|LastRowPerKey|joinery_might_contain")


def differences(one: str, other: str) -> int:
    """Count the rows that one relation holds more often than the other. NULLs are equal; columns match by name."""
    columns = ", ".join(duckdb.sql(f"SELECT * FROM {one}").columns)
    one, other = (f"SELECT {columns} FROM {relation}" for relation in (one, other))
    rows = f"SELECT count(*) FROM (({one} EXCEPT ALL {other}) UNION ALL ({other} EXCEPT ALL {one}))"
    return int(duckdb.sql(rows).fetchall()[0][0])


@pytest.mark.dbt
@pytest.mark.parametrize(("build", "models"), [(EXTENSION, MODELS), (PORTABLE, IN_BOTH_MODES)])
def test_every_model_is_built_and_every_data_test_passes(example: Example, build: str, models: list[str]) -> None:
    report = example.builds[build]
    assert set(report["models"].values()) == {"success"}, report["output"]
    assert set(report["tests"].values()) == {"pass"}, report["output"]
    tested = [model for model in MODELS if any(model in test for test in report["tests"])]
    assert tested == models


@pytest.mark.dbt
def test_tables_that_there_are_were_built_again_or_incrementally(example: Example) -> None:
    """The other tests look at the tables that the second build left."""
    first, second = (example.builds[build] for build in (FIRST, EXTENSION))
    assert not first["tests"]
    assert set(first["models"].values()) == {"success"}, first["output"]
    assert {"stg_flights", "flight_features", "airline_punctuality"} <= set(first["models"])
    assert set(MODELS) | set(first["models"]) <= set(second["models"])
    begins = "cast('2013-12-01 00:00:00' as timestamp)"
    assert begins in second["sql"]["flight_features"]
    assert "cast('2013" not in first["sql"]["flight_features"]


@pytest.mark.dbt
@pytest.mark.parametrize("schema", ["joinery_example", "joinery_example_portable"])
def test_weather_per_flight_equals_the_answer_computed_outside_spark(example: Example, schema: str) -> None:
    sql = (
        (EXAMPLE / "outside_spark.sql")
        .read_text()
        .format(
            flights=example.table("nycflights.flights"),
            weather=example.table("nycflights.weather"),
            model=example.table(f"{schema}.flight_weather"),
        )
    )
    assert duckdb.sql(sql).fetchall() == [(0,)]
    found = duckdb.sql(f"SELECT count(*), count(observed_at) FROM {example.table(f'{schema}.flight_weather')}")
    assert found.fetchall() == [(336_776, 336_776)]


@pytest.mark.dbt
def test_delays_per_carrier_equal_the_answer_computed_outside_spark(example: Example) -> None:
    expected = f"""(
        SELECT flight_id, count(*) OVER last AS flights_in_frame,
            (sum(dep_delay) OVER last)::DOUBLE / count(dep_delay) OVER last AS average_delay,
            max(dep_delay) OVER last AS worst_delay, count(*) FILTER (dep_delay IS NULL) OVER last AS cancelled
        FROM {example.table("nycflights.flights")}
        WINDOW last AS (
            PARTITION BY carrier ORDER BY departs_at, flight_id ROWS BETWEEN 9999 PRECEDING AND CURRENT ROW))"""
    found = f"""(
        SELECT flight_id, flights_in_frame, average_delay, worst_delay, cancelled
        FROM {example.table("joinery_example.carrier_delays")})"""
    assert differences(expected, found) == 0


@pytest.mark.dbt
def test_overtaken_flights_equal_the_answer_computed_outside_spark(example: Example) -> None:
    # joined by hour, because DuckDB, too, would pair each flight with all flights to its destination
    expected = f"""(
        WITH flights AS (
            SELECT flight_id, dest, departs_at, departs_at + to_minutes(dep_delay) AS left_at
            FROM {example.table("nycflights.flights")} WHERE dep_delay IS NOT NULL),
        late AS (
            SELECT *, unnest(generate_series(date_trunc('hour', departs_at), left_at, INTERVAL 1 HOUR)) AS hour
            FROM flights WHERE left_at > departs_at)
        SELECT late.flight_id, count(*) AS overtaken_by,
            date_diff('second', min(other.left_at), any_value(late.left_at)) // 60 AS minutes_sooner
        FROM late JOIN flights AS other ON late.dest = other.dest AND late.hour = date_trunc('hour', other.departs_at)
        WHERE other.departs_at > late.departs_at AND other.departs_at < late.left_at AND other.left_at < late.left_at
        GROUP BY late.flight_id)"""
    found = f"""(
        SELECT flight_id, overtaken_by, minutes_sooner FROM {example.table("joinery_example.overtaken_flights")})"""
    assert differences(expected, found) == 0
    assert duckdb.sql(f"SELECT count(*), sum(overtaken_by) FROM {found}").fetchall() == [(31_023, 58_659)]


@pytest.mark.dbt
@pytest.mark.parametrize("model", IN_BOTH_MODES)
def test_the_extension_and_a_session_without_it_give_the_same_rows(example: Example, model: str) -> None:
    extension = example.table(f"joinery_example.{model}")
    assert duckdb.sql(f"SELECT count(*) > 0 FROM {extension}").fetchall() == [(True,)]
    assert differences(extension, example.table(f"joinery_example_portable.{model}")) == 0


@pytest.mark.dbt
def test_portable_and_plain_sql_run_in_stock_spark(example: Example) -> None:
    ours = {model: OURS.findall(plan) for model, plan in example.builds[EXTENSION]["plans"].items()}
    assert "SlidingWindow" in ours["carrier_delays"]
    assert any(name.endswith("RangeJoin") for name in ours["overtaken_flights"])
    assert any(name.endswith("LastJoin") for name in ours["flight_weather"])
    assert "joinery_might_contain" in ours["flights_by_manufacturer"]
    stock = {**example.builds[PORTABLE]["plans"], **example.builds[PLAIN]["plans"]}
    assert {path.stem for path in (EXAMPLE / "plain").glob("*.sql")} | set(MODELS) <= set(stock)
    assert {model: OURS.findall(plan) for model, plan in stock.items() if OURS.search(plan)} == {}
    for model in ("carrier_delays", "plain_carrier_delays"):
        assert re.search(r"\bWindow\b", stock[model]), stock[model]


@pytest.mark.dbt
def test_only_extension_mode_renders_sql_that_needs_the_jar(example: Example) -> None:
    assert "last join" in example.builds[EXTENSION]["sql"]["flight_weather"].lower()
    assert "last join" not in example.builds[PORTABLE]["sql"]["flight_weather"].lower()


@pytest.mark.dbt
def test_extension_mode_without_the_jar_fails_at_once_with_one_clear_message(example: Example) -> None:
    report = example.builds[EXTENSION_WITHOUT_JAR]
    assert not report["success"]
    assert not report["models"], "a model was started"
    output = " ".join(report["output"].split())
    assert "joinery_mode` is 'extension', but the Joinery jar is not loaded" in output
    assert "spark.sql.extensions" in output
    assert "PARSE_SYNTAX_ERROR" not in output


@pytest.mark.dbt
def test_features_are_of_every_flight(example: Example) -> None:
    known = f"""SELECT count(*), count(observed_at), count(previous_left_at)
        FROM {example.table("joinery_example.flight_features")}"""
    ((flights, weather, plane),) = duckdb.sql(known).fetchall()
    assert flights == 336_776
    assert 0 < plane < weather <= flights


@pytest.mark.dbt
def test_flights_by_manufacturer_equal_the_answer_computed_outside_spark(example: Example) -> None:
    expected = f"""(
        SELECT f.flight_id, before.arr_delay AS previous_arrival_delay, p.model, p.seats
        FROM {example.table("joinery_example.flight_features")} AS f
        JOIN {example.table("nycflights.flights")} AS before ON f.previous_flight_id = before.flight_id
        JOIN {example.table("nycflights.planes")} AS p ON before.tailnum = p.tailnum
        WHERE p.manufacturer = 'CESSNA')"""
    found = f"""(
        SELECT flight_id, previous_arrival_delay, model, seats
        FROM {example.table("joinery_example.flights_by_manufacturer")})"""
    assert duckdb.sql(f"SELECT count(*) > 100 FROM {found}").fetchall() == [(True,)]
    assert differences(expected, found) == 0
