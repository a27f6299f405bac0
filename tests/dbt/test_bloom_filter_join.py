"""bloom_filter_join is an ordinary join where one side filters the other, in both modes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from support.answers import assert_operator, assert_same_rows, settings, stock_answer
from support.dbt_project import SCHEMA, Dbt, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt
JOINS = {
    "inner": ("join", ("right", "left")),
    "left": ("left join", ("left",)),
    "right": ("right join", ("right",)),
    "semi": ("left semi join", ("right", "left")),
    "anti": ("left anti join", ("left",)),
}
KEYS: list[tuple[list[Any], str]] = [
    (["tail"], "l.tail = r.tail"),
    ([{"left": "tail", "right": "tail"}, {"left": "day of", "right": "day"}], "l.tail = r.tail and l.`day of` = r.day"),
]
COLUMNS = ["seats", {"column": "day", "alias": "r day"}]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, dbt: Dbt) -> None:
    """Flights, and planes. Each side has keys that the other lacks, NULLs and duplicates."""
    for name, query in (
        ("legs", "select id, if(id % 11 = 0, null, id % 50) as tail, id % 4 as `day of` from range(400)"),
        ("fleet", "select if(id % 9 = 0, null, id % 60) as tail, id % 4 as day, id % 7 as seats from range(90)"),
    ):
        spark.sql(f"drop table if exists {SCHEMA}.{name}")
        spark.sql(f"create table {SCHEMA}.{name} using parquet as {query}")


@pytest.mark.parametrize("how", JOINS)
def test_rows_of_the_plain_join(spark: SparkSession, dbt: Dbt, how: str) -> None:
    sql_of, sides = JOINS[how]
    returned = {} if how in ("semi", "anti") else {"columns": COLUMNS}
    cases = list(itertools.product([None, *sides], [True, False], KEYS))
    calls = []
    for keys_of, where, (on, _) in cases:
        predicate = "id % 7 = 2" if (keys_of or sides[0]) == "left" else "seats = 2"
        chosen = {"keys_of": keys_of} | ({"where": predicate} if where else {})
        calls.append({"left": table("legs"), "right": table("fleet"), "on": on, "how": how, **chosen, **returned})
    portable, extension = (dbt.render_all("bloom_filter_join", calls, mode) for mode in ("portable", "extension"))
    assert not any("/*" in sql for sql in portable)
    for (keys_of, where, (_, condition)), sql, plain in zip(cases, extension, portable, strict=True):
        side = keys_of or sides[0]
        hint = f" /*+ RUNTIME_FILTER({side[0]}) */"
        assert sql.replace(hint, "") == plain
        assert hint in sql
        left = f"(select * from {SCHEMA}.legs where id % 7 = 2)" if where and side == "left" else f"{SCHEMA}.legs"
        right = f"(select * from {SCHEMA}.fleet where seats = 2)" if where and side == "right" else f"{SCHEMA}.fleet"
        merged = "r.tail, l.* except (tail)" if how == "right" else "l.*"
        oracle = f"""select {merged}{", r.seats, r.day as `r day`" if returned else ""}
            from {left} l {sql_of} {right} r on {condition}"""
        with settings(spark, {"spark.sql.autoBroadcastJoinThreshold": "-1"}):
            found = spark.sql(sql)
            assert_same_rows(found, stock_answer(spark, oracle))
            assert_operator(found, "joinery_might_contain")


def test_a_cte_and_default_columns(spark: SparkSession, dbt: Dbt) -> None:
    sql = dbt.render(
        "bloom_filter_join", "extension", left="late", right=table("fleet"), on=["tail"], where="seats = 2"
    )
    query = f"with late as (select tail, id from {SCHEMA}.legs) {sql}"
    with settings(spark, {"spark.sql.autoBroadcastJoinThreshold": "-1"}):
        found = spark.sql(query)
        assert found.columns == ["tail", "id", "day", "seats"]
        assert found.count() > 0
        assert_operator(found, "joinery_might_contain")


def test_a_broadcast_join_has_no_filter(spark: SparkSession, dbt: Dbt) -> None:
    sql = dbt.render("bloom_filter_join", "extension", left=table("legs"), right=table("fleet"), on=["tail"])
    with settings(spark, {"spark.sql.autoBroadcastJoinThreshold": "10MB"}):
        assert "joinery_might_contain" not in spark.sql(f"explain {sql}").collect()[0][0]


def test_a_where_may_end_in_a_comment(spark: SparkSession, dbt: Dbt) -> None:
    sides = {"left": table("legs"), "right": table("fleet"), "on": ["tail"]}
    for mode in ("portable", "extension"):
        found = spark.sql(dbt.render("bloom_filter_join", mode, where="seats = 2 -- few", **sides))
        expected = spark.sql(dbt.render("bloom_filter_join", mode, where="seats = 2", **sides))
        assert_same_rows(found, expected)
