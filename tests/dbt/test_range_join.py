"""range_join: an ordinary join on an interval, in both modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.answers import assert_same_rows
from support.dbt_project import SCHEMA, Dbt, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, dbt: Dbt) -> None:
    """Points and intervals: touching, overlapping, empty, open-ended (NULL), of several places."""
    spark.sql(f"""create or replace view {SCHEMA}.points as
        select id % 13 as at, if(id % 4 = 0, null, id % 3) as `place name` from range(60) union all select null, 1""")
    spark.sql(f"""create or replace view {SCHEMA}.intervals as
        select * from values (1, 3, 0, 'p'), (3, 5, 0, 'q'), (2, 9, 1, 'r'), (4, 4, 2, 's'), (8, 6, 1, 't'),
        (5, null, 0, 'u'), (null, 7, 1, 'v'), (0, 12, null, 'w') as t(from, `end`, place, label)""")


@pytest.mark.parametrize("keys", [[], [{"left": "place name", "right": "place"}]], ids=["no key", "key"])
@pytest.mark.parametrize("inclusive", [(True, True), (True, False), (False, True)])
def test_rows_of_the_plain_join(spark: SparkSession, dbt: Dbt, keys: list[Any], inclusive: tuple[bool, bool]) -> None:
    condition = f"p.at {'>=' if inclusive[0] else '>'} i.from and p.at {'<=' if inclusive[1] else '<'} i.end"
    condition += " and p.`place name` = i.place" if keys else ""
    for mode, how in (("portable", "inner"), ("extension", "left")):
        sql = dbt.render(
            "range_join", mode, left=table("points"), right=table("intervals"), value="at", start="from", end="end",
            on=keys, how=how, start_inclusive=inclusive[0], end_inclusive=inclusive[1],
            columns=["label", {"column": "end", "alias": "until"}],
        )  # fmt: skip
        expected = spark.sql(f"""select p.*, i.label, i.end as until
            from {SCHEMA}.points p {how} join {SCHEMA}.intervals i on {condition}""")
        assert expected.count() > 0
        assert_same_rows(spark.sql(sql), expected)


def test_ctes_and_default_columns(spark: SparkSession, dbt: Dbt) -> None:
    sql = dbt.render("range_join", left="points", right=table("intervals"), value="at", start="from", end="end")
    found = spark.sql(f"with points as (select at from {SCHEMA}.points) {sql}")
    assert found.columns == ["at", "from", "end", "place", "label"]
