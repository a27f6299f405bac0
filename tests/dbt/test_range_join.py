"""range_join returns the rows of an ordinary join on an interval, in both modes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from support.answers import assert_operator, assert_same_rows, stock_answer
from support.dbt_project import SCHEMA, Dbt, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt
HINT = " /*+ RANGE_JOIN(r) */"
# arguments and their comparisons: {0} compares with a start, {1} with an end, {2} is for overlaps
KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "point in interval": (
        {"left_point": "at", "right_interval": ["from", "end"]},
        "i.from {0} p.at and p.at {1} i.end",
    ),
    "interval around point": (
        {"left_interval": ["starts", "ends"], "right_point": "peak"},
        "p.starts {0} i.peak and i.peak {1} p.ends",
    ),
    "overlap": (
        {"left_interval": ["starts", "ends"], "right_interval": ["from", "end"]},
        "p.starts {2} i.end and i.from {2} p.ends",
    ),
}
COMPARISONS = {"[]": ("<=", "<=", "<="), "[)": ("<=", "<", "<"), "(]": ("<", "<=", "<"), "()": ("<", "<", "<")}
TYPES = {
    "inner": "join",
    "cross": "cross join",
    "left": "left join",
    "right": "right join",
    "full": "full join",
    "semi": "left semi join",
    "anti": "left anti join",
}
COLUMNS = ["label", {"column": "end", "alias": "until"}]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, dbt: Dbt) -> None:
    """Points and intervals of several places: touching, overlapping, reversed, open-ended (NULL), without a match."""
    spark.sql(f"""create or replace view {SCHEMA}.points as
        select id % 13 as at, if(id % 4 = 0, null, id % 3) as `place name`, id % 5 as starts, id % 7 as ends
        from range(40) union all select null, 1, null, 4 union all select 90, 7, 90, 91""")
    spark.sql(f"""create or replace view {SCHEMA}.intervals as
        select * from values (1, 3, 2, 0, 'p'), (3, 5, 5, 0, 'q'), (2, 9, 3, 1, 'r'), (4, 4, 4, 2, 's'),
        (8, 6, 7, 1, 't'), (5, null, 5, 0, 'u'), (null, 7, null, 1, 'v'), (0, 12, 6, null, 'w'), (70, 80, 75, 8, 'x')
        as t(from, `end`, peak, place, label)""")


@pytest.mark.parametrize("how", TYPES)
def test_rows_of_the_plain_join(spark: SparkSession, dbt: Dbt, how: str) -> None:
    returned = {} if how in ("semi", "anti") else {"columns": COLUMNS}
    keys: list[list[Any]] = [[], [{"left": "place name", "right": "place"}]]
    # each type of join gets half of the cases, and the next type gets the other half
    cases = list(itertools.product(KINDS.values(), COMPARISONS, keys))
    cases = [case for i, case in enumerate(cases) if (i + i // 2 + list(TYPES).index(how)) % 2]
    calls = [
        {
            "left": table("points"),
            "right": table("intervals"),
            "bounds": bounds,
            "on": on,
            "how": how,
            **kind,
            **returned,
        }
        for (kind, _), bounds, on in cases
    ]
    portable, extension = (dbt.render_all("range_join", calls, mode) for mode in ("portable", "extension"))
    assert [sql.replace(HINT, "") for sql in extension] == portable
    assert all(HINT in sql for sql in extension)
    assert not any("/*" in sql for sql in portable)
    for ((_, comparisons), bounds, on), sql in zip(cases, extension, strict=True):
        condition = comparisons.format(*COMPARISONS[bounds]) + (" and p.`place name` = i.place" if on else "")
        found = spark.sql(sql)
        oracle = f"""select p.*{", i.label, i.end as until" if returned else ""}
            from {SCHEMA}.points p {TYPES[how]} {SCHEMA}.intervals i on {condition}"""
        assert_same_rows(found, stock_answer(spark, oracle))
        # a broadcast FULL JOIN reads a side twice, so a join by keys is shuffled if a side may have other rows then
        assert_operator(found, "ShuffledRangeJoin" if how == "full" and on else "BroadcastRangeJoin")


def test_keys_of_one_name_are_those_of_using(spark: SparkSession, dbt: Dbt) -> None:
    spark.sql(f"create or replace view {SCHEMA}.placed as select `place name` as Place, at from {SCHEMA}.points")
    calls = [
        {"left": table("placed"), "right": table("intervals"), "on": ["place"], "how": how, "left_point": "at",
         "right_interval": ["from", "end"]}
        for how in TYPES
    ]  # fmt: skip
    for mode in ("portable", "extension"):
        for how, sql in zip(TYPES, dbt.render_all("range_join", calls, mode), strict=True):
            key = {"right": "i.place", "full": "coalesce(p.place, i.place)"}.get(how, "p.Place")
            others = "" if how in ("semi", "anti") else ", i.from, i.end, i.peak, i.label"
            name = "place" if how in ("right", "full") else "Place"
            assert_same_rows(
                spark.sql(sql),
                spark.sql(f"""select {key} as {name}, p.at{others} from {SCHEMA}.placed p {TYPES[how]}
                    {SCHEMA}.intervals i on p.place = i.place and p.at between i.from and i.end"""),
            )


def test_ctes_and_default_columns(spark: SparkSession, dbt: Dbt) -> None:
    sql = dbt.render(
        "range_join",
        "extension",
        left="points",
        right=table("intervals"),
        left_point="at",
        right_interval=["from", "end"],
    )
    found = spark.sql(f"with points as (select at from {SCHEMA}.points) {sql}")
    assert found.columns == ["at", "from", "end", "peak", "place", "label"]
    assert found.count() > 0
    assert_operator(found, "BroadcastRangeJoin")


def test_the_sql_is_what_one_would_write(dbt: Dbt) -> None:
    sql = dbt.render(
        "range_join", left=table("points"), right="i", left_point="at", right_interval=["from", "end"], bounds="[)",
        on=["place"], how="full", columns=["label"],
    )  # fmt: skip
    assert sql.strip() == (
        "select\n"
        "  coalesce(l.`place`, r.`place`) as `place`, l.`at`, l.`place name`, l.`starts`, l.`ends`,\n"
        "  r.`label` as `label`\n"
        "from `dbt_tests`.`points` as l\n"
        "full join `i` as r\n"
        "  on l.`place` = r.`place` and l.`at` >= r.`from` and l.`at` < r.`end`"
    )


@pytest.mark.parametrize("mode", ["portable", "extension"])
def test_where_leaves_out_right_rows_before_the_join(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    sides = {"left": table("points"), "right": table("intervals"), "how": "left", "columns": COLUMNS}
    ranges: dict[str, Any] = {"left_point": "at", "right_interval": ["from", "end"]}
    sql = dbt.render("range_join", mode, **sides, **ranges, where="place = 0 -- here")
    right = f"(select * from {SCHEMA}.intervals where place = 0)"
    expected = f"""select l.*, r.label, r.`end` as until from {SCHEMA}.points l left join {right} r
        on l.at between r.from and r.`end`"""
    assert_same_rows(spark.sql(sql), spark.sql(expected))
