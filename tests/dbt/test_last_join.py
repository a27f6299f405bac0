"""last_join in both modes against a join of all pairs, on data with NULLs, ties, duplicates and odd names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.answers import assert_same_rows
from support.dbt_project import SCHEMA, Dbt, MacroError, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.dbt, pytest.mark.usefixtures("last_join_sides")]
MODES = ["portable", "extension"]
RIGHT_COLUMNS = ["ts", "version", "select", "we`ird"]

# name, arguments, ON over l and r, ORDER BY that puts the wanted row first
CASES: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "as of, ties broken by a further column",
        {"on": ["a b"], "as_of": {"left": "ts", "right": "ts"}, "order_by": ["ts", "version"]},
        "l.`a b` = r.`a b` and r.ts <= l.ts",
        "r.ts desc, r.version desc",
    ),
    (
        "strictly before, ties broken descending",
        {
            "on": ["a b"],
            "as_of": {"left": "ts", "right": "ts", "strict": True},
            "order_by": ["ts", {"column": "version", "direction": "desc"}],
        },
        "l.`a b` = r.`a b` and r.ts < l.ts",
        "r.ts desc, r.version",
    ),
    (
        "as of a unique time, which is the default order",
        {"on": ["a b"], "as_of": {"left": "ts", "right": "version"}},
        "l.`a b` = r.`a b` and r.version <= l.ts",
        "r.version desc",
    ),
    (
        "as of, within a tolerance",
        {"on": ["a b"], "as_of": {"left": "ts", "right": "ts", "tolerance": 3}, "order_by": ["ts", "version"]},
        "l.`a b` = r.`a b` and r.ts <= l.ts and r.ts >= l.ts - 3",
        "r.ts desc, r.version desc",
    ),
    (
        "strictly before, within a tolerance of any number",
        {
            "on": [],
            "as_of": {"left": "ts", "right": "ts", "strict": True, "tolerance": 1.5},
            "order_by": ["ts", {"column": "version", "direction": "desc"}],
        },
        "r.ts < l.ts and r.ts >= l.ts - 1.5",
        "r.ts desc, r.version",
    ),
    (
        "within a tolerance, but ordered by something else",
        {
            "on": ["a b"],
            "as_of": {"left": "ts", "right": "ts", "tolerance": 5},
            "order_by": ["we`ird", "version"],
        },
        "l.`a b` = r.`a b` and r.ts <= l.ts and r.ts >= l.ts - 5",
        "r.`we``ird` desc nulls last, r.version desc",
    ),
    (
        "within a tolerance of nothing",
        {"on": ["a b"], "as_of": {"left": "ts", "right": "ts", "tolerance": 0}, "order_by": ["ts", "version"]},
        "l.`a b` = r.`a b` and r.ts = l.ts",
        "r.version desc",
    ),
    (
        "as of without keys",
        {"on": [], "as_of": {"left": "ts", "right": "ts"}, "order_by": ["ts", "version"]},
        "r.ts <= l.ts",
        "r.ts desc, r.version desc",
    ),
    (
        "as of, but ordered by something else",
        {"on": ["a b"], "as_of": {"left": "ts", "right": "ts"}, "order_by": ["we`ird", "version"]},
        "l.`a b` = r.`a b` and r.ts <= l.ts",
        "r.`we``ird` desc nulls last, r.version desc",
    ),
    (
        "as of, ordered by its time descending",
        {
            "on": ["a b"],
            "as_of": {"left": "ts", "right": "ts"},
            "order_by": [{"column": "ts", "direction": "desc"}, "version"],
        },
        "l.`a b` = r.`a b` and r.ts <= l.ts",
        "r.ts, r.version desc",
    ),
    ("last", {"on": ["a b"], "order_by": ["version"]}, "l.`a b` = r.`a b`", "r.version desc"),
    (
        "under DESC a NULL is last",
        {"on": ["a b"], "order_by": [{"column": "ts", "direction": "desc"}, "version"]},
        "l.`a b` = r.`a b`",
        "r.ts asc nulls first, r.version desc",
    ),
    (
        "NULLS FIRST is the way out",
        {"on": ["a b"], "order_by": [{"column": "ts", "direction": "desc", "nulls": "first"}, "version"]},
        "l.`a b` = r.`a b`",
        "r.ts asc nulls last, r.version desc",
    ),
    (
        "NULLS LAST, two keys, one of them called differently",
        {
            "on": ["a b", {"left": "city", "right": "town"}],
            "order_by": [{"column": "ts", "nulls": "last"}, {"column": "version", "direction": "desc"}],
        },
        "l.`a b` = r.`a b` and l.city = r.town",
        "r.ts desc nulls first, r.version",
    ),
    (
        "one left column in two pairs",
        {
            "on": ["a b", {"left": "a b", "right": "version"}],
            "as_of": {"left": "ts", "right": "ts"},
            "order_by": ["we`ird"],
        },
        "l.`a b` = r.`a b` and l.`a b` = r.version and r.ts <= l.ts",
        "r.`we``ird` desc nulls last",
    ),
]


# Slowly changing and bitemporal right sides. Their intervals overlap, and the last one that holds is returned.
VALIDITY: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "valid from and to",
        {"on": ["a b"], "as_of": {"left": "ts"}, "valid_from": "ts", "valid_to": "until"},
        "l.`a b` = r.`a b` and r.ts <= l.ts and (l.ts < r.until or r.until is null)",
        "r.ts desc, r.version desc",
    ),
    (
        "valid to, with the right column in as_of",
        {"on": ["a b"], "as_of": {"left": "ts", "right": "ts", "strict": True}, "valid_to": "until"},
        "l.`a b` = r.`a b` and r.ts < l.ts and (l.ts < r.until or r.until is null)",
        "r.ts desc, r.version desc",
    ),
    (
        "known at the same time",
        {"on": ["a b"], "as_of": {"left": "ts", "right": "ts"}, "known_at": "known"},
        "l.`a b` = r.`a b` and r.ts <= l.ts and r.known <= l.ts",
        "r.ts desc, r.known desc, r.version desc",
    ),
    (
        "bitemporal: valid at one time, known at another",
        {
            "on": ["a b"],
            "as_of": {"left": "ts", "tolerance": 20},
            "valid_from": "ts",
            "valid_to": "until",
            "known_at": {"left": "decided", "right": "known"},
        },
        """l.`a b` = r.`a b` and r.ts <= l.ts and r.ts >= l.ts - 20 and (l.ts < r.until or r.until is null)
            and r.known <= l.decided""",
        "r.ts desc, r.known desc, r.version desc",
    ),
    (
        "without keys",
        {"on": [], "as_of": {"left": "ts"}, "valid_from": "ts", "valid_to": "until", "known_at": "known"},
        "r.ts <= l.ts and (l.ts < r.until or r.until is null) and r.known <= l.ts",
        "r.ts desc, r.known desc, r.version desc",
    ),
]


def every_pair(condition: str, order: str, left: str = "numbered", right: str = "right") -> str:
    """SQL that joins all pairs, and keeps the first one by `order` for each numbered left row."""
    return f"""
        select `a b`, city, ts, r1, r2, r3, r4 from (
            select l.*, r.ts as r1, r.version as r2, r.`select` as r3, r.`we``ird` as r4,
                   row_number() over (partition by l.n order by {order}) as rank
            from {SCHEMA}.{left} l left join {SCHEMA}.right{right.removeprefix("right")} r on {condition})
        where rank = 1"""


def aliased() -> list[dict[str, str]]:
    """The right columns under names that the left side does not have."""
    return [{"column": name, "alias": f"r{i}"} for i, name in enumerate(RIGHT_COLUMNS, start=1)]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_returns_the_last_match_of_each_left_row(spark: SparkSession, dbt: Dbt, case: tuple[Any, ...]) -> None:
    _, arguments, condition, order = case
    expected = spark.sql(every_pair(condition, order)).cache()
    for mode in MODES:
        sql = dbt.render("last_join", mode, left=table("left"), right=table("right"), columns=aliased(), **arguments)
        assert ("last join" in sql) == (mode == "extension")
        assert_same_rows(spark.sql(sql), expected)


@pytest.mark.parametrize("case", [CASES[0], CASES[4], CASES[6]], ids=lambda case: case[0])
@pytest.mark.parametrize("mode", MODES)
def test_sides_may_be_empty(spark: SparkSession, dbt: Dbt, mode: str, case: tuple[Any, ...]) -> None:
    _, arguments, condition, order = case
    for left, right in (("left_empty", "right"), ("left", "right_empty")):
        sql = dbt.render("last_join", mode, left=table(left), right=table(right), columns=aliased(), **arguments)
        expected = every_pair(condition, order, left.replace("left", "numbered"), right)
        assert_same_rows(spark.sql(sql), spark.sql(expected))


@pytest.mark.parametrize("case", [CASES[0], CASES[4], CASES[6]], ids=lambda case: case[0])
@pytest.mark.parametrize("mode", MODES)
def test_sides_may_be_ctes_with_odd_names(spark: SparkSession, dbt: Dbt, mode: str, case: tuple[Any, ...]) -> None:
    _, arguments, condition, order = case
    sql = dbt.render("last_join", mode, left="left `side`", right="r", columns=aliased(), **arguments)
    ctes = f"with `left ``side``` as (select * from {SCHEMA}.left), r as (select * from {SCHEMA}.right) "
    assert_same_rows(spark.sql(ctes + sql), spark.sql(every_pair(condition, order)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("kind", "tolerance", "found"),
    [
        ("date", "1 day", [2]),
        ("date", "23 hours", [None]),
        ("date", "1 month", [2]),
        ("date", 1, [2]),
        ("timestamp", 0, [None]),
        ("timestamp", "1 day", [2]),
        ("timestamp", "interval '86399' seconds", [None]),
        ("timestamp_ntz", "24 hours", [2]),
    ],
)
def test_tolerance_of_times(
    spark: SparkSession, dbt: Dbt, mode: str, kind: str, tolerance: str | int, found: list[Any]
) -> None:
    as_of = {"left": "t", "right": "u", "tolerance": tolerance}
    sql = dbt.render("last_join", mode, left="l", right="r", on=["k"], as_of=as_of, columns=["v"])
    sides = f"""with l as (select 1 as k, cast('2024-03-01' as {kind}) as t),
        r as (select 1 as k, cast(day as {kind}) as u, v
              from values ('2024-02-28', 1), ('2024-02-29', 2) as t(day, v)) """
    assert [row.v for row in spark.sql(sides + sql).collect()] == found


@pytest.mark.parametrize("mode", MODES)
def test_without_order_any_one_match_and_always_a_whole_row(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    sql = dbt.render("last_join", mode, left=table("left"), right=table("right"), on=["a b"], columns=aliased())
    found = spark.sql(sql)
    assert found.count() == spark.table(f"{SCHEMA}.left").count()
    matched = found.where("r2 is not null").select("a b", "r1", "r2", "r3", "r4")
    rows = spark.sql(f"select `a b`, ts, version, `select`, `we``ird` from {SCHEMA}.right")
    assert matched.count() > 0
    assert matched.subtract(rows).count() == 0
    assert found.where("r2 is null").where(f"`a b` in (select `a b` from {SCHEMA}.right)").count() == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("as_ctes", [False, True], ids=["tables", "CTEs"])
def test_keys_of_different_numeric_types_do_not_multiply_rows(
    spark: SparkSession, dbt: Dbt, mode: str, as_ctes: bool
) -> None:
    # 2^53 and 2^53 + 1 are one double: both right rows match, one may be returned
    spark.sql(f"create or replace view {SCHEMA}.doubles as select 9007199254740992D as k")
    spark.sql(f"""create or replace view {SCHEMA}.longs as
                  select * from values (9007199254740992L, 1), (9007199254740993L, 2) as t(k, v)""")
    sides: dict[str, Any] = (
        {"left": "l", "right": "r"} if as_ctes else {"left": table("doubles"), "right": table("longs")}
    )
    ctes = f"with l as (select * from {SCHEMA}.doubles), r as (select * from {SCHEMA}.longs) "
    sql = dbt.render("last_join", mode, **sides, on=["k"], order_by=["v"], columns=["v"])
    assert [row.v for row in spark.sql(ctes + sql).collect()] == [2]


@pytest.mark.parametrize("lengths", [(2, 4), (4, 2)])
def test_chars_of_different_lengths_are_equal_but_for_spaces(
    spark: SparkSession, dbt: Dbt, lengths: tuple[int, int]
) -> None:
    """Spark pads the shorter CHAR when it compares two columns, and nowhere else."""
    left, right = (f"char_{side}_{length}" for side, length in zip("lr", lengths, strict=True))
    for name, length in ((left, lengths[0]), (right, lengths[1])):
        spark.sql(f"create table {SCHEMA}.{name} (k char({length}), ts int) using parquet")
        longer = ", ('abc', 4), ('abc', 9)" if length > 3 else ""
        spark.sql(f"insert into {SCHEMA}.{name} values ('ab', 3), ('ab', 5), ('x', 7), (null, 1){longer}")
    columns = [{"column": "ts", "alias": "last"}]
    for latest, condition in (
        ({"order_by": ["ts"]}, ""),
        ({"as_of": {"left": "ts", "right": "ts"}}, "and r.ts <= l.ts"),
    ):
        # the last match is the one with the largest ts
        expected = spark.sql(f"""select l.k, l.ts, max(r.ts) as last from {SCHEMA}.{left} l
            left join {SCHEMA}.{right} r on l.k = r.k {condition} group by l.k, l.ts""").cache()
        assert expected.where("last is not null").count() == 3
        for mode in MODES:
            arguments = {"left": table(left), "right": table(right), "on": ["k"], "columns": columns, **latest}
            assert_same_rows(spark.sql(dbt.render("last_join", mode, **arguments)), expected)


def test_portable_refuses_keys_that_compare_only_as_strings(spark: SparkSession, dbt: Dbt) -> None:
    # '1' and '01' equal the integer 1, but not each other
    for arguments in ({"order_by": ["v"]}, {"as_of": {"left": "k", "right": "v"}}):
        sql = dbt.render("last_join", left="l", right="r", on=["k"], columns=["v"], **arguments)
        with pytest.raises(Exception, match="DATATYPE_MISMATCH"):
            spark.sql("with l as (select 1 as k), r as (select '01' as k, 1 as v) " + sql)


def test_default_columns_leave_out_equal_keys(spark: SparkSession, dbt: Dbt) -> None:
    spark.sql(f"create or replace view {SCHEMA}.narrow as select `A B`, town, version as V from {SCHEMA}.right")
    sql = dbt.render(
        "last_join", left=table("left"), right=table("narrow"), on=["a b", {"left": "city", "right": "town"}]
    )
    assert spark.sql(sql).columns == ["a b", "city", "ts", "town", "V"]


def test_default_columns_that_both_sides_have_need_a_list(dbt: Dbt) -> None:
    with pytest.raises(MacroError, match=r"joinery.last_join: argument `columns` .*both sides have a column `ts`"):
        dbt.render("last_join", left=table("left"), right=table("right"), on=["a b"])


def test_default_columns_of_a_relation_not_built_yet(dbt: Dbt) -> None:
    with pytest.raises(MacroError, match=r"joinery.last_join: argument `columns` .*does not exist yet"):
        dbt.render("last_join", left=table("left"), right=table("nowhere"), on=["a b"])


def test_extension_sql_always_has_a_left_alias(dbt: Dbt) -> None:
    # without an alias, stock Spark would run an inner join
    sql = dbt.render(
        "last_join", "extension", left=table("left"), right=table("right"), on=["a b"], columns=["version"]
    )
    assert " ".join(sql.split()) == (
        "select l.*, r.`version` as `version` from `dbt_tests`.`left` as l "
        "last join `dbt_tests`.`right` as r on l.`a b` = r.`a b`"
    )


@pytest.mark.parametrize("case", VALIDITY, ids=[case[0] for case in VALIDITY])
def test_validity_and_knowledge(spark: SparkSession, dbt: Dbt, case: tuple[Any, ...]) -> None:
    _, arguments, condition, order = case
    spark.sql(f"""create or replace temporary view versions as
        select *, if(version % 7 = 0, null, ts + version % 5) as until,
            if(version % 11 = 0, null, ts + version % 4) as known
        from {SCHEMA}.right""")
    spark.sql(f"""create or replace temporary view decisions as
        select n, `a b`, city, ts, if(n % 9 = 0, null, ts + n % 6) as decided from {SCHEMA}.numbered""")
    by_time = ["ts", "known"] if "known_at" in arguments else ["ts"]
    arguments = {**arguments, "order_by": [*by_time, "version"]}  # the default order, and a column that decides ties
    expected = spark.sql(f"""select * except (n, rank) from (
        select l.*, r.version, row_number() over (partition by l.n order by {order}) as rank
        from decisions l left join versions r on {condition}) where rank = 1""").cache()
    found = expected.where("version is not null").count()
    assert 0 < found < expected.count()
    for mode in MODES:
        sql = dbt.render("last_join", mode, left="d", right="versions", columns=["version"], **arguments)
        assert_same_rows(spark.sql(f"with d as (select * except (n) from decisions) {sql}"), expected)


@pytest.mark.parametrize("mode", MODES)
def test_of_versions_the_one_known_last_is_taken(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    sides = """with l as (select 1 as k, 9 as t), r as (select 1 as k, *
        from values (3, 4, 'first'), (3, 8, 'corrected'), (3, 10, 'not known yet') as t(about, known, v)) """
    as_of = {"left": "t", "right": "about"}
    sql = dbt.render("last_join", mode, left="l", right="r", on=["k"], as_of=as_of, known_at="known", columns=["v"])
    assert [row.v for row in spark.sql(sides + sql).collect()] == ["corrected"]


def test_a_prefix_serves_default_columns_and_spares_aliases(spark: SparkSession, dbt: Dbt) -> None:
    columns = ["ts", {"column": "version", "alias": "v"}]
    given = {"left": table("left"), "right": table("right"), "on": ["a b"], "prefix": "r_"}
    assert spark.sql(dbt.render("last_join", columns=columns, **given)).columns[3:] == ["r_ts", "v"]
    names = ["r_town", "r_ts", "r_version", "r_select", "r_we`ird"]
    assert spark.sql(dbt.render("last_join", **given)).columns[3:] == names


@pytest.mark.parametrize("mode", MODES)
def test_where_leaves_out_the_deletions_of_a_snapshot(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    # a price that changed at 5 and was deleted at 8, as `hard_deletes: new_record` writes it
    spark.sql(f"""create or replace view {SCHEMA}.fares as select * from values
        ('A', 10, 1, 5, 'False'), ('A', 12, 5, 8, 'False'), ('A', 12, 8, null, 'True')
        as t(route, price, dbt_valid_from, dbt_valid_to, dbt_is_deleted)""")
    spark.sql(f"create or replace view {SCHEMA}.sold as select 'A' as route, explode(array(0, 1, 5, 7, 8, 9)) as at")
    validity = {"as_of": {"left": "at"}, "valid_from": "dbt_valid_from", "valid_to": "dbt_valid_to"}
    chosen: dict[str, Any] = {**validity, "where": "dbt_is_deleted = 'False' -- no deletions", "columns": ["price"]}
    prices = [(0, None), (1, 10), (5, 12), (7, 12), (8, None), (9, None)]
    sides = {"left": table("sold"), "on": ["route"]}
    sql = dbt.render("last_join", mode, **sides, right=table("fares"), **chosen)
    assert [(row["at"], row["price"]) for row in spark.sql(sql).orderBy("at").collect()] == prices
    # several right sides in one stream keep their own rows
    rights = [{"relation": table("fares"), "where": f"price = {price}", "prefix": f"p{price}_"} for price in (10, 12)]
    of_each = {"as_of": {"left": "at", "right": "dbt_valid_from"}, "columns": ["price"]}
    sql = dbt.render("last_join", mode, **sides, right=rights, **of_each)
    rows = spark.sql(sql).where("at in (1, 9)").orderBy("at").collect()
    assert [(row["p10_price"], row["p12_price"]) for row in rows] == [(10, None), (10, 12)]
