"""last_join with times of two types compares them in their common type, and orders them as written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from support.answers import settings
from support.dbt_project import SCHEMA, Dbt, MacroError, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt
MODES = ["portable", "extension"]
SETTINGS = {
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate": "true",
}
DAY_OF_GAP = "2024-03-10"  # clocks in New York go from 02:00 to 03:00

# name, type and time of the left row, type and rows of the right side, tolerance, which right row is the last
PAIRS: list[tuple[str, str, str, str, dict[str, str], Any, str | None]] = [
    (
        "a local time that does not exist",
        "timestamp",
        f"'{DAY_OF_GAP} 07:40:00Z'",
        "timestamp_ntz",
        {"gap": f"'{DAY_OF_GAP} 02:30'", "after": f"'{DAY_OF_GAP} 03:15'"},
        None,
        "after",
    ),
    (
        "a local time that does not exist, the only one within the tolerance",
        "timestamp",
        f"'{DAY_OF_GAP} 07:40:00Z'",
        "timestamp_ntz",
        {"gap": f"'{DAY_OF_GAP} 02:30'", "after": f"'{DAY_OF_GAP} 03:15'"},
        "15 minutes",
        "gap",
    ),
    (
        "numbers that rounding makes equal",
        "double",
        "1.7100564e18",
        "bigint",
        {"later": "1710056400000000001", "earlier": "1710056400000000000"},
        None,
        "later",
    ),
    (
        "a number that the common type cannot hold",
        "decimal(38,18)",
        "3",
        "decimal(38,0)",
        {"small": "2", "huge": "99999999999999999999999999999999999999"},
        None,
        "small",
    ),
    (
        "no time on the left, and a number that the common type cannot hold",
        "decimal(38,18)",
        "null",
        "decimal(38,0)",
        {"huge": "99999999999999999999999999999999999999"},
        None,
        None,
    ),
    (
        "char that is padded where it is compared",
        "char(2)",
        "'ab'",
        "char(5)",
        {"tab": "'ab\\t'", "earlier": "'aa'"},
        None,
        "tab",
    ),
    (
        "intervals of two units",
        "interval day to second",
        "interval '26' hour",
        "interval day",
        {"day": "interval '1' day", "two": "interval '2' day"},
        None,
        "day",
    ),
]


@pytest.fixture(scope="module", autouse=True)
def in_new_york(spark: SparkSession, dbt: Dbt) -> Iterator[None]:
    """Set the session to New York's time zone; decimals keep their fraction, and overflow."""
    with settings(spark, SETTINGS):
        yield


# CTEs are not tested with CHAR: their types are not known, so a macro cannot see that two lengths meet.
CASES = [(pair, as_ctes) for pair in PAIRS for as_ctes in (False, True) if not (as_ctes and "char" in pair[1])]


@pytest.mark.parametrize(
    ("pair", "as_ctes"), CASES, ids=[f"{pair[0]} ({'CTEs' if as_ctes else 'tables'})" for pair, as_ctes in CASES]
)
def test_last_join_of_two_types_takes_the_last_time_as_written(
    spark: SparkSession, dbt: Dbt, pair: tuple[Any, ...], as_ctes: bool
) -> None:
    _, left_type, time, right_type, right_rows, tolerance, last = pair
    for name in ("typed_left", "typed_right"):
        spark.sql(f"drop table if exists {SCHEMA}.{name}")
    spark.sql(f"create table {SCHEMA}.typed_left (k int, t {left_type}) using parquet")
    spark.sql(f"create table {SCHEMA}.typed_right (k int, t {right_type}, v string) using parquet")
    spark.sql(f"insert into {SCHEMA}.typed_left select 1, {cast(time, left_type)}")
    rows = [f"(1, {cast(value, right_type)}, '{name}')" for name, value in right_rows.items()]
    spark.sql(f"insert into {SCHEMA}.typed_right select /*+ coalesce(1) */ * from values {', '.join(rows)}")
    sides: dict[str, Any] = (
        {"left": "l", "right": "r"} if as_ctes else {"left": table("typed_left"), "right": table("typed_right")}
    )
    ctes = f"with l as (select * from {SCHEMA}.typed_left), r as (select * from {SCHEMA}.typed_right) "
    as_of = {"left": "t", "right": "t"} | ({"tolerance": tolerance} if tolerance else {})
    for mode in MODES:
        sql = dbt.render("last_join", mode, **sides, on=["k"], as_of=as_of, columns=["v"])
        assert [row.v for row in spark.sql(ctes + sql).collect()] == [last], mode


def cast(value: str, kind: str) -> str:
    """SQL for a value of a type. CHAR is a type of columns only, so it gets no cast."""
    return value if "char" in kind else f"cast({value} as {kind})"


@pytest.mark.parametrize("mode", MODES)
def test_tolerance_of_timestamps_without_unit_is_a_compile_error(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    spark.sql(f"create or replace view {SCHEMA}.timed as select 1 as k, timestamp'2024-03-10' as t")
    sides = {"left": table("timed"), "right": table("timed"), "on": ["k"]}
    message = "tolerance must be an interval such as '2 hours' where `t` is a timestamp, but is 5"
    with pytest.raises(MacroError, match=message):
        dbt.render("last_join", mode, **sides, as_of={"left": "t", "right": "t", "tolerance": 5}, columns=["k"])
