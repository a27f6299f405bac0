"""The split window of skew_window against the plain one, with small parts and bad boundaries of all kinds."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.answers import assert_same_rows, settings
from support.dbt_project import SCHEMA, Dbt, MacroError, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt
GOLDEN = Path(__file__).parents[1] / "golden" / "artifact_table_name.json"

# collect_list shows every row of a frame in order; the sum of doubles must add them in the same order
ROWS = [{"name": "ids", "expression": "collect_list(id)"}, {"name": "sum_x", "expression": "sum(x)"}]
# a RANGE frame holds ties in any order
RANGE = [{"name": f"{f}_id", "expression": f"{f}(id)"} for f in ("count", "sum", "min", "max")]
ORDERS = [(direction, nulls) for direction in ("asc", "desc") for nulls in ("first", "last")]
FRAMES = [(3, 0), (0, 3), (60, 2)]

STALE = "array(-7, 3, 4, 5, 6, 90, 91)"
BOUNDARIES = {
    "computed in the query": None,
    "stale, most parts tiny or empty": f"""
        select distinct k, 1000000L as row_count, {STALE} as quantiles from events""",
    "keys twice, unsorted, with NULLs": """
        select k, 1000000L as row_count, q as quantiles from (select distinct k from events)
        cross join values (array(20, null, 10, 10)), (array(1)) as t(q)""",
    "of other types": """
        select cast(id as string) as k, 1000000L as row_count, array('1', '12', '3') as quantiles from events
        union all select 'a', 1000000L, array('2')""",
    "of no rows": "select k, 1L as row_count, array(1) as quantiles from events where false",
}


@pytest.fixture(scope="module", autouse=True)
def stock_windows(spark: SparkSession, dbt: Dbt) -> Iterator[None]:
    """Switch Joinery's operator off, so that split windows are compared with Spark's, to the last digit of a sum."""
    with settings(spark, {"spark.joinery.slidingWindow.enabled": "false"}):
        yield


@pytest.fixture(scope="module", autouse=True)
def events(spark: SparkSession, dbt: Dbt) -> None:
    """Events with NULL keys, NULL and tied order values, and times around month ends and a clock change."""
    pick = random.Random(20262)
    rows = [
        (
            pick.choice([None, "a", "b"]),
            None if pick.random() < 0.05 else pick.randint(0, 40),
            i,
            pick.random(),
            pick.choice([pick.randint(89000, 89500), pick.randint(0, 120000)]),
        )
        for i in range(300)
    ]
    frame = spark.createDataFrame(rows, "k string, t int, id int, x double, minute int")
    frame.write.saveAsTable(f"{SCHEMA}.event_rows")
    spark.sql(f"""create or replace view {SCHEMA}.events as
        select *, timestamp'2024-01-29 00:00' + minute * interval 1 minute as ts,
               date_add(date'2024-01-29', int(minute div 1440)) as day, cast(t as double) / 4 as quarter
        from {SCHEMA}.event_rows""")


def window(order: str, frame: dict[str, Any]) -> str:
    """The specification of the plain window."""
    bounds = [
        "current row" if frame[side] == 0 else f"{'interval ' if ' ' in str(frame[side]) else ''}{frame[side]} {side}"
        for side in ("preceding", "following")
    ]
    return f"(partition by k order by {order} {frame['type']} between {bounds[0]} and {bounds[1]})"


def plain(expressions: list[dict[str, str]], spec: str) -> str:
    """SQL of the plain window over the events."""
    columns = ", ".join(f"{e['expression']} over w as {e['name']}" for e in expressions)
    return f"select *, {columns} from {SCHEMA}.events window w as {spec}"


def number_of_parts(spark: SparkSession, dbt: Dbt, **arguments: Any) -> int:
    """The number of parts into which the keys are cut. Unsplit windows would pass the tests that do not check it."""
    expressions = [{"name": "part", "expression": "max(__joinery_part_id)"}]
    sql = dbt.render("skew_window", expressions=expressions, **arguments)
    return spark.sql(sql).select("k", "part").distinct().count()


@pytest.mark.parametrize(("direction", "nulls"), ORDERS)
@pytest.mark.parametrize("kind", ["rows", "range"])
def test_every_order_and_direction_of_frame(
    spark: SparkSession, dbt: Dbt, kind: str, direction: str, nulls: str
) -> None:
    by = [{"column": "t", "direction": direction, "nulls": nulls}, *(["id"] if kind == "rows" else [])]
    order = f"t {direction} nulls {nulls}{', id' if kind == 'rows' else ''}"
    expressions = ROWS if kind == "rows" else RANGE
    for preceding, following in FRAMES:
        frame = {"type": kind, "preceding": preceding, "following": following}
        arguments = {"relation": table("events"), "partition_by": ["k"], "order_by": by, "frame": frame}
        sql = dbt.render("skew_window", expressions=expressions, **arguments)
        assert_same_rows(spark.sql(sql), spark.sql(plain(expressions, window(order, frame))))


@pytest.fixture
def in_schema(spark: SparkSession) -> Iterator[None]:
    """Make unqualified names in boundaries refer to the tables of these tests."""
    spark.sql(f"use {SCHEMA}")
    yield
    spark.sql("use default")


@pytest.mark.usefixtures("in_schema")
@pytest.mark.parametrize("kind", ["rows", "range"])
@pytest.mark.parametrize("boundaries", BOUNDARIES.values(), ids=BOUNDARIES.keys())
@pytest.mark.parametrize("as_cte", [False, True], ids=["table", "CTE"])
def test_boundaries_never_change_a_result(
    spark: SparkSession, dbt: Dbt, kind: str, boundaries: str | None, as_cte: bool
) -> None:
    frame = {"type": kind, "preceding": 25, "following": 2}
    order, expressions = (["t", "id"], ROWS) if kind == "rows" else (["t"], RANGE)
    arguments: dict[str, Any] = {"relation": table("events"), "partition_by": ["k"], "order_by": order, "frame": frame}
    if as_cte:
        arguments["relation"] = "input"
    if boundaries:
        spark.sql(f"create or replace view {SCHEMA}.boundaries as {boundaries}")
        arguments["distribution"] = table("boundaries")
    sql = dbt.render("skew_window", expressions=expressions, **arguments)
    expected = spark.sql(plain(expressions, window(", ".join(order), frame)))
    assert_same_rows(spark.sql(f"with input as (select * from {SCHEMA}.events) {sql}"), expected)


def test_hot_keys_are_split(spark: SparkSession, dbt: Dbt) -> None:
    arguments: dict[str, Any] = {"relation": table("events"), "partition_by": ["k"], "order_by": ["t", "id"]}
    for frame, parts, expected in (
        ({"type": "rows", "preceding": 1}, 4, 3 * 5),  # NULL order values are one more part
        ({"type": "range", "preceding": 1}, 2, None),
        ({"type": "rows", "preceding": 20}, 8, 3 * 3),  # two parts, as more would copy over a quarter of 100 rows
        ({"type": "rows", "preceding": 1000}, 8, 3),  # a frame holds the whole key: not split
    ):
        by = ["t"] if frame["type"] == "range" else ["t", "id"]
        found = number_of_parts(spark, dbt, **{**arguments, "order_by": by}, frame=frame, parts=parts)
        assert found == (expected or 3 * 3), frame
    few = {"variables": {"joinery_min_part_rows": 10000}, "frame": {"type": "rows", "preceding": 1}}
    assert number_of_parts(spark, dbt, **few, **arguments) == 3
    spark.sql(f"""create or replace view {SCHEMA}.boundaries as
                  select 'a' as k, 1000000L as row_count, array(10, 20, 30) as quantiles""")
    stored = number_of_parts(
        spark, dbt, distribution=table("boundaries"), **arguments, frame={"type": "rows", "preceding": 1}
    )
    assert stored == 5 + 2


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize(
    ("column", "preceding", "following", "zone"),
    [
        ("ts", "90 minutes", 0, "Europe/Berlin"),  # clocks change on 31 March
        ("ts", "30 hours", "24 hours", "Europe/Berlin"),
        ("ts", "1 month", 0, "UTC"),
        ("day", 2, 1, "UTC"),
        ("ts", "1 day", "2 days", "Europe/Berlin"),
        ("day", "1 month", "2 months", "UTC"),
        ("quarter", 1, 2, "UTC"),
    ],
)
def test_range_offsets(
    spark: SparkSession, dbt: Dbt, direction: str, column: str, preceding: Any, following: Any, zone: str
) -> None:
    frame = {"type": "range", "preceding": preceding, "following": following}
    by = [{"column": column, "direction": direction}]
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        sql = dbt.render(
            "skew_window", relation=table("events"), partition_by=["k"], order_by=by, frame=frame, expressions=RANGE
        )
        expected = spark.sql(plain(RANGE, window(f"{column} {direction}", frame)))
        assert_same_rows(spark.sql(sql), expected)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_offsets_that_overflow(spark: SparkSession, dbt: Dbt, direction: str) -> None:
    spark.sql(f"""create or replace view {SCHEMA}.extremes as select 1 as k, cast(id as int) as id,
        case when id < 40 then int(-2147483648 + id) when id < 80 then int(2147483647 - id + 40) else int(id) end as t
        from range(120)""")
    spark.sql(f"""create or replace view {SCHEMA}.boundaries as select 1 as k, 1000000L as row_count,
        array(-2147483648, -2147483645, -2147483630, 50, 2147483630, 2147483645, 2147483647) as quantiles""")
    frame = {"type": "range", "preceding": 5, "following": 5}
    sql = dbt.render(
        "skew_window", relation=table("extremes"), partition_by=["k"], frame=frame, expressions=RANGE,
        order_by=[{"column": "t", "direction": direction}], distribution=table("boundaries"),
    )  # fmt: skip
    expected = plain(RANGE, window(f"t {direction}", frame)).replace(f"{SCHEMA}.events", f"{SCHEMA}.extremes")
    assert_same_rows(spark.sql(sql), spark.sql(expected))


def test_names_that_the_macro_could_use_itself(spark: SparkSession, dbt: Dbt) -> None:
    # every name that the rendered SQL gives to a table, a column or a lambda variable
    spark.sql(f"""create or replace view {SCHEMA}.names as
        select k as parts, t as b, id as i, id as quantiles, x as q, x as row_count, id as w, id as k1,
               id as t, id as d, id as `a b`, id as `select`, id as `back``tick`, k as `group` from {SCHEMA}.events""")
    for keys, by in ((["parts", "group"], ["b", "back`tick"]), (["k1"], ["q"]), (["d"], ["t", "quantiles"])):
        for kind in ("rows", "range") if len(by) == 1 else ("rows",):
            expressions = [{"name": "o`dd name", "expression": "count(`a b`)"}]
            frame = {"type": kind, "preceding": 2}
            sql = dbt.render(
                "skew_window",
                relation=table("names"),
                partition_by=keys,
                order_by=by,
                frame=frame,
                expressions=expressions,
            )
            quoted = [", ".join(f"`{name.replace('`', '``')}`" for name in names) for names in (keys, by)]
            expected = f"""select *, count(`a b`) over (partition by {quoted[0]} order by {quoted[1]}
                {kind} between 2 preceding and current row) as `o``dd name` from {SCHEMA}.names"""
            assert_same_rows(spark.sql(sql), spark.sql(expected))


def test_without_partition_columns(spark: SparkSession, dbt: Dbt) -> None:
    frame = {"type": "rows", "preceding": 7, "following": 0}
    spec = window("t, id", frame).replace("partition by k ", "")
    arguments = {"relation": table("events"), "partition_by": [], "order_by": ["t", "id"], "frame": frame}
    assert_same_rows(spark.sql(dbt.render("skew_window", expressions=ROWS, **arguments)), spark.sql(plain(ROWS, spec)))
    assert number_of_parts(spark, dbt, **arguments) > 3


@pytest.mark.parametrize("kind", ["rows", "range"])
def test_what_cannot_be_split_is_the_plain_window(spark: SparkSession, dbt: Dbt, kind: str) -> None:
    arguments: dict[str, Any] = {"relation": table("events"), "partition_by": ["k"], "expressions": RANGE}
    for by, preceding in (("id", "unbounded"), ("k", 0)):
        sql = dbt.render("skew_window", order_by=[by], frame={"type": kind, "preceding": preceding}, **arguments)
        assert "__joinery" not in sql
        expected = plain(RANGE, window(by, {"type": kind, "preceding": preceding, "following": 0}))
        assert_same_rows(spark.sql(sql), spark.sql(expected))


@pytest.mark.parametrize("mode", ["portable", "extension"])
def test_an_expression_may_end_in_a_comment(spark: SparkSession, dbt: Dbt, mode: str) -> None:
    frame = {"type": "rows", "preceding": 3}
    arguments = {"relation": table("events"), "partition_by": ["k"], "order_by": ["t", "id"], "frame": frame}
    commented = [{**each, "expression": f"{each['expression']} -- of a window"} for each in ROWS]
    found = spark.sql(dbt.render("skew_window", mode, expressions=commented, **arguments))
    assert_same_rows(found, spark.sql(plain(ROWS, window("t, id", {**frame, "following": 0}))))


def test_extension_renders_the_plain_window(spark: SparkSession, dbt: Dbt) -> None:
    frame = {"type": "rows", "preceding": 3, "following": 0}
    arguments = {"relation": table("events"), "partition_by": ["k"], "order_by": ["t", "id"], "frame": frame}
    functions = [*ROWS[:1], *RANGE]
    plainly = dbt.render("skew_window", "extension", expressions=functions, **arguments)
    hinted = dbt.render("skew_window", "extension", expressions=functions, parts=4, **arguments)
    assert "__joinery" not in plainly + hinted
    assert "/*+" not in plainly
    assert "select /*+ skew_window(4) */" in hinted
    portable = dbt.render("skew_window", "portable", expressions=functions, **arguments)
    for sql in (plainly, hinted):
        expected = spark.sql(portable)  # for each comparison: Spark reads a DataFrame with the session's settings
        with settings(spark, {"spark.joinery.slidingWindow.enabled": "true"}):
            actual = spark.sql(sql)
            assert "SlidingWindow" in actual._jdf.queryExecution().executedPlan().toString()
            assert_same_rows(actual, expected)


@pytest.mark.parametrize("schema", ["joinery", "`Statistics`", "spark_catalog.`statistics`"])
def test_auto_finds_what_the_nightly_job_registered(spark: SparkSession, dbt: Dbt, schema: str) -> None:
    frame = {"type": "rows", "preceding": 3, "following": 0}
    arguments: dict[str, Any] = {
        "relation": table("events"),
        "partition_by": ["k"],
        "order_by": ["t", "id"],
        "frame": frame,
    }
    name = dbt.render("distribution_table_name", schema=SCHEMA, identifier="events", partition_by=["k"], order_by="t")
    arguments |= {"expressions": ROWS, "distribution": "auto", "variables": {"joinery_schema": schema}}
    assert "percentile_approx" in dbt.render("skew_window", **arguments)  # no such schema yet
    spark.sql(f"create schema {schema}")
    try:
        assert "percentile_approx" in dbt.render("skew_window", **arguments)
        spark.sql(
            f"create view {schema}.{name} as select k, 1000L as row_count, {STALE} as quantiles from {SCHEMA}.events"
        )
        sql = dbt.render("skew_window", **arguments)
        assert f".`{name}`" in sql
        assert schema != "joinery" or f"`joinery`.`{name}`" in sql
        assert_same_rows(spark.sql(sql), spark.sql(plain(ROWS, window("t, id", frame))))
    finally:
        spark.sql(f"drop schema {schema} cascade")


@pytest.mark.parametrize("rows", ["many", -1, 1.5, True, ""])
def test_a_number_of_rows_that_cannot_be_is_named(dbt: Dbt, rows: Any) -> None:
    arguments: dict[str, Any] = {"relation": table("events"), "partition_by": ["k"], "order_by": ["t"]}
    arguments |= {"frame": {"type": "rows", "preceding": 1}, "expressions": ROWS}
    with pytest.raises(
        MacroError, match=re.escape(f"joinery: var `joinery_min_part_rows` is '{rows}'; it takes a whole")
    ):
        dbt.render("skew_window", variables={"joinery_min_part_rows": rows}, **arguments)


@pytest.mark.parametrize("schema", ["a.b.c", "a b", "", "joinery; drop schema x", "`open"])
def test_a_schema_that_cannot_be_is_named(dbt: Dbt, schema: str) -> None:
    arguments: dict[str, Any] = {"relation": table("events"), "partition_by": ["k"], "order_by": ["t"]}
    arguments |= {"frame": {"type": "rows", "preceding": 1}, "expressions": ROWS, "distribution": "auto"}
    with pytest.raises(MacroError, match=re.escape(f"joinery: var `joinery_schema` is '{schema}'; it takes")):
        dbt.render("skew_window", variables={"joinery_schema": schema}, **arguments)


def test_with_the_jar_nothing_is_asked_that_is_not_used(dbt: Dbt) -> None:
    arguments: dict[str, Any] = {"relation": table("events"), "partition_by": ["k"], "order_by": ["t", "id"]}
    arguments |= {"frame": {"type": "rows", "preceding": 1}, "expressions": ROWS, "distribution": "auto"}
    dbt.render("skew_window", "extension", **arguments)
    assert dbt.queries == ["show functions like 'joinery_version'", "select version(), joinery_version()"]
    dbt.render("skew_window", "portable", **arguments)
    assert "show schemas like 'joinery'" in dbt.queries


def test_a_distribution_that_does_not_fit_is_ignored_and_named(spark: SparkSession, dbt: Dbt) -> None:
    spark.sql(f"create or replace view {SCHEMA}.other as select 'a' as k, 1L as row_count, array('x') as quantiles")
    spark.sql(f"create or replace view {SCHEMA}.lacking as select 'a' as k, 1L as row_count")
    frame = {"type": "rows", "preceding": 3}
    for name, reason in (
        ("nowhere", "does not exist"),
        ("lacking", "has no column `quantiles`"),
        ("other", "array<int>"),
    ):
        sql = dbt.render(
            "skew_window", relation=table("events"), partition_by=["k"], order_by=["t"], frame=frame, expressions=ROWS,
            distribution=table(name),
        )  # fmt: skip
        assert "percentile_approx" in sql
        assert any(reason in line and f"`{name}`" in line for line in dbt.log), dbt.log


def test_distribution_table_name_is_that_of_the_python_side(dbt: Dbt) -> None:
    checked = 0
    for vector in json.loads(GOLDEN.read_text()):
        given = vector["input"]
        schema, dot, identifier = given["relation"].partition("." if "`" in given["relation"] else "\0")
        if not dot:
            schema, dot, identifier = given["relation"].rpartition(".")
        if not dot or schema == "parquet":
            continue  # dbt relations always have a schema, and are no paths
        name = dbt.render(
            "distribution_table_name", schema=schema, identifier=identifier, partition_by=given["partition_by"],
            order_by=given["order_by"],
        )  # fmt: skip
        assert name == vector["expected"], given
        checked += 1
    assert checked >= 10
