"""`make data` loads the real flights, their departures, and copies that are the same on every machine."""

from __future__ import annotations

from pathlib import Path

import duckdb

from .conftest import EXAMPLE, Example, run


def ask(loaded: Path, sql: str, *tables: str) -> list[tuple[object, ...]]:
    return duckdb.sql(sql.format(*map(Example(loaded, {}).table, tables))).fetchall()


def test_all_rows_of_the_package_are_loaded(loaded: Path) -> None:
    names = ("flights", "weather", "planes", "airlines", "airports")
    counts = [ask(loaded, "SELECT count(*) FROM {}", f"nycflights.{name}")[0][0] for name in names]
    assert counts == [336_776, 26_115, 3_322, 16, 1_458]


def test_departures_are_the_local_schedule_in_utc(loaded: Path) -> None:
    # the schedule is hhmm in New York; the test turns it into UTC by DuckDB's time zone rules, not by time_hour
    wrong = """
        SELECT count(*) FROM (
            SELECT departs_at, make_timestamp(year, month, day, sched_dep_time // 100, sched_dep_time % 100, 0)
                AT TIME ZONE 'America/New_York' AT TIME ZONE 'UTC' AS expected
            FROM {})
        WHERE departs_at IS DISTINCT FROM expected"""
    assert ask(loaded, wrong, "nycflights.flights") == [(0,)]


def test_missing_values_are_null(loaded: Path) -> None:
    sql = "SELECT count(*) - count(dep_time), count(*) - count(tailnum), count(*) FILTER (tailnum = 'NA') FROM {}"
    assert ask(loaded, sql, "nycflights.flights") == [(8_255, 2_512, 0)]


def test_large_flights_are_whole_copies_moved_by_up_to_half_an_hour(loaded: Path) -> None:
    sql = """
        WITH moved AS (
            SELECT c.flight_id AS id, date_diff('second', f.departs_at, c.departs_at) AS seconds
            FROM {} AS c JOIN {} AS f ON f.flight_id = c.flight_id % 336776)
        SELECT count(*), count(DISTINCT id), max(abs(seconds)) FILTER (id < 336776), min(seconds), max(seconds),
            sum(seconds * (id % 1000))
        FROM moved"""
    found = ask(loaded, sql, "nycflights_large.flights", "nycflights.flights")
    # the last number sums up all moves, which are the same on every machine
    assert found == [(673_552, 673_552, 0, -1800, 1800, -463_703_116)]


def test_loading_again_with_the_same_parameters_does_nothing(loaded: Path) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in (loaded / "warehouse").rglob("*"))
    assert "already loaded" in run(loaded, str(EXAMPLE / "load_sources.py"), "--rows", "400000")
    assert before == sorted((path, path.stat().st_mtime_ns) for path in (loaded / "warehouse").rglob("*"))
