"""range_join() on classic DataFrames; tests/integration/test_connect.py tests it on Spark Connect."""

from __future__ import annotations

import datetime
import doctest
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from spark_joinery import last_join, range_join
from spark_joinery.errors import InvalidArgumentError
from spark_joinery.plan_report import explain_dataframe
from support.answers import assert_operator, assert_same_rows, executed_plan, settings, stock_answer

SETTINGS = {
    # there are hundreds of queries over a few rows: compiling them would take longer than running them
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
# arguments and their comparisons: {0} compares with a start, {1} with an end, {2} is for overlaps
KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "point in interval": ({"left_point": "x", "right_interval": ("lo", "hi")}, "r.lo {0} l.x AND l.x {1} r.hi"),
    "interval around point": ({"left_interval": ["s", "e"], "right_point": "y"}, "l.s {0} r.y AND r.y {1} l.e"),
    "overlap": ({"left_interval": ("s", "e"), "right_interval": ("lo", "hi")}, "l.s {2} r.hi AND r.lo {2} l.e"),
}
COMPARISONS = {"[]": ("<=", "<=", "<="), "[)": ("<=", "<", "<"), "(]": ("<", "<=", "<"), "()": ("<", "<", "<")}
TYPES = {
    "inner": "JOIN",
    "cross": "CROSS JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "semi": "LEFT SEMI JOIN",
    "anti": "LEFT ANTI JOIN",
}
POINT = {"left_point": "x", "right_interval": ("lo", "hi")}
OVERLAP = {"left_interval": ("s", "e"), "right_interval": ("s", "e")}


@pytest.fixture(scope="module", autouse=True)
def interpreted(spark: SparkSession) -> Iterator[None]:
    with settings(spark, SETTINGS):
        yield


@pytest.fixture(scope="module")
def left(spark: SparkSession) -> DataFrame:
    """Points and intervals with NULLs, ties and duplicates. Some intervals are reversed or hold one point."""
    frame = spark.sql("""SELECT * FROM VALUES
        (1, 'a', 1, 0, 2), (2, 'a', 3, 3, 3), (3, 'b', 3, 5, 1), (4, 'b', 7, 2, 6), (5, NULL, 3, 1, 4),
        (6, 'a', NULL, NULL, 5), (7, 'c', 50, 50, 60), (8, 'b', 5, 3, NULL), (4, 'b', 7, 2, 6) AS t(id, k, x, s, e)""")
    frame.createOrReplaceTempView("range_left")
    return frame


@pytest.fixture(scope="module")
def right(spark: SparkSession) -> DataFrame:
    frame = spark.sql("""SELECT * FROM VALUES
        ('p', 'a', 1, 1, 3), ('q', 'a', 3, 3, 5), ('r', 'b', 4, 6, 2), ('s', 'b', 2, 3, 3), ('t', 'b', 5, 0, 9),
        ('u', NULL, 3, 2, 4), ('v', 'a', NULL, NULL, 3), ('w', 'b', 6, 1, NULL), ('x', 'd', 90, 90, 95),
        ('q', 'a', 3, 3, 5) AS t(name, k, y, lo, hi)""")
    frame.createOrReplaceTempView("range_right")
    return frame


def plain(kind: str, how: str, bounds: str, on: str, key: str) -> str:
    """The ordinary join. `key` is the column that USING would make of both sides' `k`, or empty."""
    sides = ["l.id, l.x, l.s, l.e"] if how in ("semi", "anti") else ["l.id, l.x, l.s, l.e", "r.name, r.y, r.lo, r.hi"]
    columns = ", ".join([f"{key} AS k", *sides]) if key else "*"
    condition = KINDS[kind][1].format(*COMPARISONS[bounds])
    return f"SELECT {columns} FROM range_left l {TYPES[how]} range_right r ON {condition}{on}"


@pytest.mark.parametrize("how", TYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_the_plain_join(spark: SparkSession, left: DataFrame, right: DataFrame, kind: str, how: str) -> None:
    key = {"right": "r.k", "full": "coalesce(l.k, r.k)"}.get(how, "l.k")
    for i, bounds in enumerate(COMPARISONS):
        # every second case has a key, and for the next type of join the others have one
        on = {"on": "k"} if (i + list(TYPES).index(how)) % 2 else {}
        joined = range_join(left, right, bounds=bounds, how=how, **KINDS[kind][0], **on)  # type: ignore[arg-type]
        oracle = plain(kind, how, bounds, " AND l.k = r.k" if on else "", key if on else "")
        assert_same_rows(joined, stock_answer(spark, oracle))
        assert_operator(joined, "BroadcastRangeJoin")


@pytest.mark.parametrize("how", TYPES)
def test_the_operator_of_two_large_sides(spark: SparkSession, left: DataFrame, right: DataFrame, how: str) -> None:
    with settings(spark, {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.adaptive.enabled": "false"}):
        joined = range_join(left, right, on="k", how=how, **POINT)
        joined.collect()
        assert_operator(joined, "ShuffledRangeJoin")


@pytest.mark.parametrize(
    ("spellings", "how"),
    [
        (("outer", "fullouter", "full_outer", "FULL"), "full"),
        (("leftouter", "left_outer"), "left"),
        (("rightouter", "right_outer"), "right"),
        (("leftsemi", "left_semi"), "semi"),
        (("leftanti", "left_anti"), "anti"),
    ],
)
def test_every_spelling_of_a_join_type(left: DataFrame, right: DataFrame, spellings: tuple[str, ...], how: str) -> None:
    expected = range_join(left, right, on="k", how=how, **POINT)
    for spelling in spellings:
        assert_same_rows(range_join(left, right, on="k", how=spelling, **POINT), expected)


def test_columns_of_using(left: DataFrame, right: DataFrame) -> None:
    for how, on in itertools.product(TYPES, ("k", ["k"], ("k", "k"))):
        joined = range_join(left.select("id", "k", "x"), right, on=on, how=how, **POINT)
        using = left.select("id", "k", "x").join(right, "k", how)
        assert joined.columns == using.columns


def test_a_condition_beside_the_range(spark: SparkSession, left: DataFrame, right: DataFrame) -> None:
    for how in TYPES:
        on = (left.k == right.k) & (left.id > F.length(right.name))
        joined = range_join(left, right, on=on, how=how, **POINT)
        oracle = plain("point in interval", how, "[]", " AND l.k = r.k AND l.id > length(r.name)", "")
        assert_same_rows(joined, spark.sql(oracle))


# functions, because a classic Column cannot be made before there is a session
@pytest.mark.parametrize(
    "arguments",
    [
        lambda left, right: {"left_point": left.x, "right_interval": (right.lo, right.hi)},
        lambda left, right: {"left_point": F.col("x"), "right_interval": [right["lo"], "hi"]},
        lambda left, right: {"left_point": left.x + 1, "right_interval": (right.lo + 1, right.hi + F.lit(1))},
    ],
    ids=["columns", "mixed", "expressions"],
)
def test_bounds_may_be_columns(
    left: DataFrame, right: DataFrame, arguments: Callable[[DataFrame, DataFrame], dict[str, Any]]
) -> None:
    for on in (None, "k"):
        expected = range_join(left, right, on=on, **POINT)
        joined = range_join(left, right, on=on, **arguments(left, right))
        assert_same_rows(joined, expected)
        assert_operator(joined, "BroadcastRangeJoin")


def test_names_are_those_of_their_own_side(spark: SparkSession) -> None:
    events = spark.sql("SELECT TIMESTAMP '2024-01-01 10:00' + make_dt_interval(0, id) AS ts, id FROM range(3)")
    alarms = spark.sql("SELECT TIMESTAMP '2024-01-01 11:00' AS ts, 'fire' AS kind")
    around = alarms.ts - F.lit(datetime.timedelta(minutes=5)), alarms.ts + F.lit(datetime.timedelta(minutes=5))
    assert [row.id for row in range_join(events, alarms, left_point="ts", right_interval=around).collect()] == [1]
    named = range_join(events, alarms, left_point="ts", right_interval=("ts", "ts"))
    assert named.columns == ["ts", "id", "ts", "kind"]
    assert named.select(events.ts == alarms.ts, "id").collect() == [(True, 1)]


def test_odd_names_and_fields(spark: SparkSession) -> None:
    left = spark.sql("SELECT 1 AS `a.b`, struct(5 AS x) AS `point`, 2 AS `we``ird`")
    right = spark.sql("SELECT 1 AS `a.b`, 4 AS `from.to`, 6 AS `hi there`, 2 AS `we``ird`")
    for how in TYPES:
        joined = range_join(
            left, right, on=["a.b", "we`ird"], left_point="point.x", right_interval=("`from.to`", "hi there"), how=how
        )
        assert joined.columns[:3] == ["a.b", "we`ird", "point"]
        assert joined.count() == (0 if how == "anti" else 1)


@pytest.mark.parametrize("is_self_join", [False, True])
def test_names_with_dots_are_those_of_columns(spark: SparkSession, is_self_join: bool) -> None:
    left = spark.sql("SELECT 1 AS `a.b`, 5 AS `t.x`, 4 AS `from.to`")
    right = left if is_self_join else spark.sql("SELECT 1 AS `a.b`, 4 AS `from.to`, 6 AS `t.x`")
    for on in ("a.b", "`a.b`"):
        assert range_join(left, right, left_point="t.x", right_interval=("from.to", "`t.x`"), on=on).count() == 1


def test_columns_of_the_sides_are_columns_of_the_result(left: DataFrame, right: DataFrame) -> None:
    left, right = left.alias("now"), right.alias("then")
    for how, key in (("inner", left.k), ("left", left.k), ("right", right.k)):
        joined = range_join(left, right, on="k", how=how, **POINT)
        expected = joined.select("k", "id", "name")
        assert_same_rows(joined.select(key, left.id, right.name), expected)
        assert_same_rows(joined.select("k", "now.id", "then.name"), expected)


def test_a_column_twice_on_a_side(left: DataFrame, right: DataFrame) -> None:
    twice = left.select("*", left.id.alias("name"), left.s.alias("id"))
    for how in TYPES:
        joined = range_join(twice, right, on="k", how=how, **POINT)
        assert joined.columns[:7] == ["k", "id", "x", "s", "e", "name", "id"]
        assert joined.count() == range_join(left, right, on="k", how=how, **POINT).count()


@pytest.mark.parametrize("how", TYPES)
def test_self_joins(spark: SparkSession, left: DataFrame, how: str) -> None:
    """Columns are found by name, with and without aliases of the sides."""
    one_side = how in ("semi", "anti")
    key = {"right": "b.k", "full": "coalesce(a.k, b.k)"}.get(how, "a.k")
    others = "a.id, a.x, a.s, a.e" + ("" if one_side else ", b.id, b.x, b.s, b.e")
    condition = "a.s <= b.e AND b.s <= a.e"
    keyed = stock_answer(
        spark, f"SELECT {key} AS k, {others} FROM range_left a {TYPES[how]} range_left b ON {condition} AND a.k = b.k"
    )
    unkeyed = stock_answer(spark, f"SELECT * FROM range_left a {TYPES[how]} range_left b ON {condition}")
    for one, other in ((left, left), (left.alias("a"), left.alias("b"))):
        joined = range_join(one, other, on="k", how=how, **OVERLAP)
        assert_same_rows(joined, keyed)
        assert_operator(joined, "BroadcastRangeJoin")
        assert_same_rows(range_join(one, other, how=how, **OVERLAP), unkeyed)
    if not one_side:
        assert joined.select("k", "a.id", F.col("b.id").alias("other")).count() == keyed.count()


def test_a_self_join_by_columns_of_aliases(spark: SparkSession, left: DataFrame) -> None:
    on = (F.col("a.k") == F.col("b.k")) & (F.col("a.id") < F.col("b.id"))
    joined = range_join(
        left.alias("a"), left.alias("b"), on=on, left_interval=(F.col("a.s"), "e"), right_interval=("s", F.col("b.e"))
    )
    oracle = """SELECT * FROM range_left a JOIN range_left b
        ON a.k = b.k AND a.id < b.id AND a.s <= b.e AND b.s <= a.e"""
    assert_same_rows(joined, spark.sql(oracle))


def test_a_side_derived_from_the_other(spark: SparkSession, left: DataFrame) -> None:
    spans = left.groupBy("k").agg(F.min("x").alias("lo"), F.max("x").alias("hi"))
    joined = range_join(left, spans, on="k", how="full", **POINT)
    oracle = """SELECT coalesce(l.k, r.k) AS k, id, x, s, e, lo, hi FROM range_left l
        FULL JOIN (SELECT k, min(x) AS lo, max(x) AS hi FROM range_left GROUP BY k) r
        ON l.k = r.k AND l.x BETWEEN r.lo AND r.hi"""
    assert_same_rows(joined, spark.sql(oracle))


def test_an_ambiguous_column_of_a_self_join_is_spark_s_error(left: DataFrame) -> None:
    later = left.where("id > 3")
    with pytest.raises(AnalysisException, match="ambiguous"):
        range_join(left, later, left_point=left.x, right_interval=(later.s, later.e)).collect()


def test_chains(left: DataFrame, right: DataFrame) -> None:
    first = range_join(left, right, on="k", how="left", **POINT)
    second = range_join(
        first, right.select("k", F.col("y").alias("z")), on="k", left_interval=("s", "e"), right_point="z"
    )
    assert second.columns == ["k", "id", "x", "s", "e", "name", "y", "lo", "hi", "z"]
    assert second.count() > 0


def test_broadcast_says_which_side_is_indexed(left: DataFrame, right: DataFrame) -> None:
    for on, (side, shown) in itertools.product((None, "k"), {"left": "BuildLeft", "right": "BuildRight"}.items()):
        joined = range_join(left, right, on=on, broadcast=side, **POINT)
        assert f"{shown} indexed" in executed_plan(joined)
        assert [(entry.operator, entry.reason) for entry in explain_dataframe(joined)] == [
            ("BroadcastRangeJoin", "hint")
        ]


def test_a_hint_of_spark_s_does_not_keep_it_from_the_operator(left: DataFrame, right: DataFrame) -> None:
    joined = range_join(left, right.hint("merge"), on="k", **POINT)
    assert {entry.operator for entry in explain_dataframe(joined)} == {"BroadcastRangeJoin"}


def test_examples_of_the_documentation_strings_run(spark: SparkSession) -> None:
    time = "TIMESTAMP '2024-01-01 10:00'"
    names = {
        "datetime": datetime,
        "last_join": last_join,
        "range_join": range_join,
        "flights": spark.sql(f"SELECT 'EWR' AS origin, {time} AS departs_at"),
        "storms": spark.sql(f"SELECT 'EWR' AS origin, {time} AS starts_at, {time} + INTERVAL 1 HOUR AS ends_at"),
        "weather": spark.sql(f"SELECT 'EWR' AS origin, {time} AS observed_at"),
    }
    for function in (last_join, range_join):
        (example,) = doctest.DocTestParser().get_examples(function.__doc__ or "")
        assert eval(example.source, names).count() == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing of left is to be compared; give left_point, as in left_point='departs_at', or left_interval"),
        ({"left_point": "x"}, "nothing of right is to be compared; give right_point"),
        ({"right_interval": ("lo", "hi")}, "nothing of left is to be compared"),
        ({"left_point": "x", "right_point": "y"}, "left_point and right_point are both points; give the interval of"),
        ({**POINT, "left_interval": ("s", "e")}, "left_point and left_interval are both given; remove one of them"),
        ({**POINT, "right_point": "y"}, "right_point and right_interval are both given; remove one of them"),
        ({**POINT, "left_point": 3}, "left_point must be a column name or a Column, not int (3)"),
        ({**POINT, "left_point": ("x", "y")}, "left_point must be a column name or a Column, not tuple (('x', 'y'))"),
        ({**POINT, "right_interval": "lo"}, "right_interval must be two column names or Columns, as in ('starts_at'"),
        ({**POINT, "right_interval": ("lo",)}, "right_interval must be two column names or Columns"),
        ({**POINT, "right_interval": ("lo", "y", "hi")}, "right_interval must be two column names or Columns"),
        ({**POINT, "right_interval": {"lo": "hi"}}, "right_interval must be two column names or Columns"),
        ({**POINT, "right_interval": ("lo", 3)}, "right_interval must hold column names and Columns, not int (3)"),
        ({**POINT, "right_interval": ("lo", None)}, "right_interval must hold column names and Columns, not None"),
        ({**POINT, "bounds": "[["}, "bounds must be one of [], [), (], (), not str ('[[')"),
        ({**POINT, "bounds": None}, "bounds must be one of [], [), (], (), not None"),
        ({**POINT, "how": "last"}, "how must be one of inner, cross, full, left, right, semi, anti, or another name"),
        ({**POINT, "how": None}, "or another name that DataFrame.join() has for these, not None"),
        ({**POINT, "broadcast": "both"}, "broadcast must be one of left, right, not str ('both')"),
        ({**POINT, "broadcast": True}, "broadcast must be one of left, right, not bool (True)"),
        ({**POINT, "on": 3}, "on must be a column name, a list of column names or a Column, not int (3)"),
        ({**POINT, "on": []}, "on is an empty list; name at least one column"),
        ({**POINT, "on": ["k", 3]}, "the list given as on must hold column names, not int (3)"),
        ({**POINT, "right": "storms"}, "right must be a DataFrame, not str ('storms')"),
    ],
)
def test_wrong_arguments_are_named(left: DataFrame, right: DataFrame, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        range_join(left, **{"right": right, **arguments})
    assert str(raised.value).startswith("range_join: ")
    assert message in str(raised.value)


def test_a_list_of_conditions_says_how_to_combine_them(left: DataFrame, right: DataFrame) -> None:
    with pytest.raises(InvalidArgumentError, match="range_join: combine conditions with &"):
        range_join(left, right, on=[left.k == right.k], **POINT)  # type: ignore[list-item]


def test_an_unknown_column_is_spark_s_error(left: DataFrame, right: DataFrame) -> None:
    for arguments in ({"left_point": "nowhere"}, {"on": "name"}, {"right_interval": ("lo", "nowhere")}):
        with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN"):
            range_join(left, right, **{**POINT, **arguments}).collect()
