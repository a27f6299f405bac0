"""Column names that dbt or a session could misread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from support.answers import settings
from support.dbt_project import SCHEMA, Dbt, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, dbt: Dbt) -> Iterator[None]:
    """Tables with a first and a later column that begin with `#`, and with two names that differ in case."""
    with settings(spark, {"spark.sql.caseSensitive": "true"}):
        spark.sql(f"create table {SCHEMA}.genes (`#chrom` char(2), pos int, `#rank` int, name string) using parquet "
                  "partitioned by (name)")  # fmt: skip
        spark.sql(f"create table {SCHEMA}.reads (`#chrom` char(4), pos int, n int) using parquet")
        spark.sql(f"insert into {SCHEMA}.genes values ('x', 1, 7, 'a')")
        spark.sql(f"insert into {SCHEMA}.reads values ('x', 3, 0)")
        spark.sql(f"create table {SCHEMA}.cased_left (id int, t int) using parquet")
        spark.sql(f"create table {SCHEMA}.cased_right (id int, ID int, since int) using parquet")
        spark.sql(f"insert into {SCHEMA}.cased_left values (1, 5)")
        spark.sql(f"insert into {SCHEMA}.cased_right values (1, 8, 3)")
    yield
    for name in ("genes", "reads", "cased_left", "cased_right"):
        spark.sql(f"drop table {SCHEMA}.{name}")


@pytest.mark.parametrize("mode", ["portable", "extension"])
def test_default_columns_hold_those_that_begin_with_a_hash(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    sides = {"left": table("reads"), "right": table("genes"), "prefix": "g_"}
    sql = dbt.render("last_join", mode, **sides, on=["#chrom"], as_of={"left": "pos", "right": "pos"})
    (row,) = spark.sql(sql).collect()
    assert row.asDict() == {"#chrom": "x   ", "pos": 3, "n": 0, "g_pos": 1, "g_#rank": 7, "g_name": "a"}


CASED: dict[str, Any] = {"left": table("cased_left"), "right": table("cased_right"), "on": ["id"]}


@pytest.mark.parametrize("mode", ["portable", "extension"])
def test_case_sensitive_session_keeps_names_that_differ_in_case(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    with settings(spark, {"spark.sql.caseSensitive": "true"}):
        interval = {"left_point": "t", "right_interval": ["since", "ID"]}
        joined = spark.sql(dbt.render("range_join", mode, **CASED, **interval, how="full")).collect()
        assert [row.asDict() for row in joined] == [{"id": 1, "t": 5, "ID": 8, "since": 3}]
        last = {"as_of": {"left": "t", "right": "since"}, "columns": ["ID", {"column": "since", "alias": "Id"}]}
        assert spark.sql(dbt.render("last_join", mode, **CASED, **last)).columns == ["id", "t", "ID", "Id"]


def test_session_is_asked_for_its_case_only_where_names_differ_in_case(dbt: Dbt) -> None:
    last = {"as_of": {"left": "t", "right": "since"}, "columns": ["since"]}
    dbt.render("last_join", **CASED, **last)
    assert not [query for query in dbt.queries if "transform" in query]
    dbt.render("last_join", **{**CASED, "on": ["Id"]}, **last)
    assert len([query for query in dbt.queries if "transform" in query]) == 1
