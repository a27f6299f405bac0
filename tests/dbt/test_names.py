"""Names of columns that dbt takes for something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from support.answers import settings
from support.dbt_project import SCHEMA, Dbt, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, dbt: Dbt) -> Iterator[None]:
    """Columns that begin with `#`, first and later."""
    with settings(spark, {"spark.sql.caseSensitive": "true"}):
        spark.sql(f"create table {SCHEMA}.genes (`#chrom` char(2), pos int, `#rank` int, name string) using parquet "
                  "partitioned by (name)")  # fmt: skip
        spark.sql(f"create table {SCHEMA}.reads (`#chrom` char(4), pos int, n int) using parquet")
        spark.sql(f"insert into {SCHEMA}.genes values ('x', 1, 7, 'a')")
        spark.sql(f"insert into {SCHEMA}.reads values ('x', 3, 0)")
    yield
    for name in ("genes", "reads"):
        spark.sql(f"drop table {SCHEMA}.{name}")


@pytest.mark.parametrize("mode", ["portable", "extension"])
def test_default_columns_hold_those_that_begin_with_a_hash(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    sides = {"left": table("reads"), "right": table("genes"), "prefix": "g_"}
    sql = dbt.render("last_join", mode, **sides, on=["#chrom"], as_of={"left": "pos", "right": "pos"})
    (row,) = spark.sql(sql).collect()
    assert row.asDict() == {"#chrom": "x   ", "pos": 3, "n": 0, "g_pos": 1, "g_#rank": 7, "g_name": "a"}
