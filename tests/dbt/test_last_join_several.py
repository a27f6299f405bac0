"""last_join with several right sides, against plain SQL that joins the best match of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.answers import assert_same_rows
from support.dbt_project import SCHEMA, Dbt, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.dbt, pytest.mark.usefixtures("last_join_sides")]
MODES = ["portable", "extension"]

# Each case has arguments of the right side, ON over l and r, and an ORDER BY that puts the wanted row first.
AS_OF: dict[str, Any] = {"as_of": {"left": "ts", "right": "ts"}, "order_by": ["ts", "version"]}
STRICT: dict[str, Any] = {
    "as_of": {"left": "ts", "right": "ts", "strict": True, "tolerance": 9},
    "order_by": ["ts", {"column": "version", "direction": "desc"}],
}
LATEST: dict[str, Any] = {"as_of": None, "order_by": ["version"]}
TOWN: dict[str, Any] = {"on": [{"left": "city", "right": "town"}], **AS_OF}
SEVERAL = {
    "as of": (AS_OF, "l.`a b` = r.`a b` and r.ts <= l.ts", "r.ts desc, r.version desc"),
    "strict": (STRICT, "l.`a b` = r.`a b` and r.ts < l.ts and r.ts >= l.ts - 9", "r.ts desc, r.version"),
    "latest": (LATEST, "l.`a b` = r.`a b`", "r.version desc"),
    "town": (TOWN, "l.city = r.town and r.ts <= l.ts", "r.ts desc, r.version desc"),
}


def several(*names: str) -> tuple[list[dict[str, Any]], str]:
    """The argument `right` with several sides, and plain SQL that joins the best match of each to the left rows."""
    rights, joined, columns = [], f"{SCHEMA}.numbered l0", ""
    for i, name in enumerate(names, start=1):
        given, condition, order = SEVERAL[name]
        rights.append({"relation": table("right"), "prefix": f"s{i}_", "columns": ["version", "we`ird"], **given})
        best = f"""(select l.n, r.version, r.`we``ird`, row_number() over (partition by l.n order by {order}) as rank
            from {SCHEMA}.numbered l join {SCHEMA}.right r on {condition}) b{i}"""
        joined += f" left join {best} on l0.n = b{i}.n and b{i}.rank = 1"
        columns += f", b{i}.version as s{i}_version, b{i}.`we``ird` as `s{i}_we``ird`"
    return rights, f"select l0.`a b`, l0.city, l0.ts{columns} from {joined}"


@pytest.mark.parametrize(
    ("names", "passes"),
    [
        (("as of", "as of"), 1),
        (("as of", "strict", "as of"), 1),
        (("strict", "latest"), 2),
        (("latest", "as of", "town", "strict"), 4),
        (("town", "as of", "strict"), 2),
    ],
    ids=lambda value: " + ".join(value) if isinstance(value, tuple) else None,
)
def test_several_right_sides(spark: SparkSession, dbt: Dbt, names: tuple[str, ...], passes: int) -> None:
    rights, plain = several(*names)
    expected = spark.sql(plain).cache()
    for mode in MODES:
        sql = dbt.render("last_join", mode, left=table("left"), right=rights, on=["a b"])
        if mode == "extension":
            assert sql.count("last join") == len(names)
        else:
            assert sql.count("__joinery_left is not null") + sql.count("last_first = 1") == passes
        assert_same_rows(spark.sql(sql), expected)


@pytest.mark.parametrize("mode", MODES)
def test_several_right_sides_may_be_empty_or_ctes(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    rights, plain = several("as of", "strict")
    ctes = f"with l as (select * from {SCHEMA}.left), r as (select * from {SCHEMA}.right) "
    sql = dbt.render("last_join", mode, left="l", right=[{**right, "relation": "r"} for right in rights], on=["a b"])
    assert_same_rows(spark.sql(f"{ctes}, joined as ({sql}) select * from joined"), spark.sql(plain))
    rights[0]["relation"] = table("right_empty")
    sql = dbt.render("last_join", mode, left=table("left"), right=rights, on=["a b"])
    without_first = spark.sql(plain).selectExpr(
        "`a b`", "city", "ts", "int(null) as s1_version", "int(null) as `s1_we``ird`", "s2_version", "`s2_we``ird`"
    )
    assert_same_rows(spark.sql(sql), without_first)
    assert spark.sql(dbt.render("last_join", mode, left=table("left_empty"), right=rights, on=["a b"])).count() == 0


@pytest.mark.parametrize("mode", MODES)
def test_several_right_sides_come_after_ctes_of_the_model(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    rights, plain = several("strict", "latest", "town")
    ctes = f"with l as (select * from {SCHEMA}.left), r as (select * from {SCHEMA}.right)"
    sql = dbt.render("last_join", mode, left="l", right=[{**right, "relation": "r"} for right in rights], on=["a b"])
    assert_same_rows(spark.sql(f"{ctes}\n{sql}"), spark.sql(plain))
    assert spark.sql(f"{ctes}\n{sql}").columns == spark.sql(plain).columns


@pytest.mark.parametrize("mode", MODES)
def test_right_sides_with_keys_of_several_types_do_not_share_a_type(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    # one union would turn all keys into doubles, where 2^53 and 2^53 + 1 are equal
    spark.sql(f"create or replace view {SCHEMA}.big as select 9007199254740993L as k, 5 as t")
    for name, number in (("exact", "9007199254740992L"), ("rough", "9007199254740992D")):
        spark.sql(f"create or replace view {SCHEMA}.{name} as select {number} as k, 1 as u, '{name}' as v")
    rights = [{"relation": table(name), "columns": ["v"], "prefix": name} for name in ("exact", "rough")]
    sql = dbt.render("last_join", mode, left=table("big"), right=rights, on=["k"], as_of={"left": "t", "right": "u"})
    assert [tuple(row) for row in spark.sql(sql).collect()] == [(9007199254740993, 5, None, "rough")]


def test_with_the_jar_types_are_not_asked_for(dbt: Dbt) -> None:
    rights, _ = several("as of", "latest")
    dbt.render("last_join", "extension", left=table("left"), right=rights, on=["a b"])
    assert dbt.queries == ["show functions like 'joinery_version'", "select version(), joinery_version()"]
