"""last_join() on classic DataFrames; tests/integration/test_connect.py tests it on Spark Connect."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from spark_joinery import last_join
from spark_joinery.errors import InvalidArgumentError
from spark_joinery.plan_report import explain_dataframe
from support.answers import assert_operator, assert_same_rows, executed_plan, settings

FORMS = {"broadcast": "BroadcastLastJoin", "merge": "SortMergeLastJoin", "shuffle_hash": "ShuffledHashLastJoin"}


@pytest.fixture(scope="module")
def flights(spark: SparkSession) -> Iterator[DataFrame]:
    rows = [(1, "EWR", 10), (2, "EWR", 20), (3, "JFK", 5), (4, None, 10), (5, "LGA", 10), (1, "EWR", 10)]
    frame = spark.createDataFrame(rows, "flight INT, origin STRING, departs INT")
    frame.createOrReplaceTempView("flights")
    yield frame
    spark.catalog.dropTempView("flights")


@pytest.fixture(scope="module")
def weather(spark: SparkSession) -> Iterator[DataFrame]:
    rows = [
        ("EWR", 10, 1.0),
        ("EWR", 15, 2.0),
        ("EWR", 25, None),
        ("EWR", None, 4.0),
        ("JFK", 7, 5.0),
        ("JFK", 6, 5.0),
        (None, 9, 6.0),
    ]
    frame = spark.createDataFrame(rows, "origin STRING, observed INT, wind DOUBLE")
    frame.createOrReplaceTempView("weather")
    yield frame
    spark.catalog.dropTempView("weather")


def test_names_are_joined_as_by_using(spark: SparkSession, flights: DataFrame, weather: DataFrame) -> None:
    for on in ("origin", ["origin"], ("origin",)):
        joined = last_join(flights, weather, on=on, order_by="observed")
        assert_same_rows(
            joined, spark.sql("SELECT * FROM flights f LAST JOIN weather w ORDER BY w.observed USING (origin)")
        )
        assert joined.columns == ["origin", "flight", "departs", "observed", "wind"]
        assert_operator(joined, "BroadcastLastJoin")  # adaptive execution sees how small the right side is


def test_condition_and_last_by_time(flights: DataFrame, weather: DataFrame) -> None:
    on = (flights.origin == weather.origin) & (weather.observed <= flights.departs)
    found = last_join(flights, F.broadcast(weather), on=on, order_by=weather.observed).select("flight", "wind")
    assert sorted(map(tuple, found.collect())) == [(1, 1.0), (1, 1.0), (2, 2.0), (3, None), (4, None), (5, None)]
    assert_operator(found, "BroadcastLastJoin")


# functions, because a classic Column cannot be made before there is a session
@pytest.mark.parametrize(
    ("order_by", "wind_at_newark"),
    [
        (lambda: "observed", None),  # 25 is last
        (lambda: F.col("observed"), None),
        (lambda: F.col("observed").desc(), 4.0),  # NULLS LAST is the default under DESC
        (lambda: F.col("observed").desc_nulls_first(), 1.0),
        (lambda: F.col("observed").asc_nulls_last(), 4.0),
        (lambda: ["wind"], 4.0),
        (lambda: [F.col("wind") > 100, F.col("observed").desc_nulls_first()], 1.0),
        (lambda: -F.col("observed"), 1.0),
    ],
)
def test_order_by_decides_which_is_last(
    flights: DataFrame, weather: DataFrame, order_by: Callable[[], Any], wind_at_newark: float | None
) -> None:
    joined = last_join(flights, weather, on="origin", order_by=order_by())
    assert {row.wind for row in joined.where("origin = 'EWR'").collect()} == {wind_at_newark}


def test_without_order_any_one_match(flights: DataFrame, weather: DataFrame) -> None:
    rows = last_join(flights, weather, on="origin").collect()
    assert sorted(row.flight for row in rows) == [1, 1, 2, 3, 4, 5]
    matches = {tuple(row) for row in weather.collect()}
    assert all((row.origin, row.observed, row.wind) in matches for row in rows if row.flight in (1, 2, 3))


def test_right_filters_come_before_and_filters_on_the_result_after(flights: DataFrame, weather: DataFrame) -> None:
    before = last_join(flights, weather.where("wind IS NOT NULL"), on="origin", order_by="observed")
    assert {row.wind for row in before.where("origin = 'EWR'").collect()} == {2.0}
    after = last_join(flights, weather, on="origin", order_by="observed").where("wind IS NOT NULL")
    assert {row.origin for row in after.collect()} == {"JFK"}  # Newark's last one has no wind


def test_chain_and_self_join(flights: DataFrame, weather: DataFrame) -> None:
    later = flights.alias("later")
    on = (F.col("now.origin") == F.col("later.origin")) & (F.col("now.departs") < F.col("later.departs"))
    next_flight = last_join(flights.alias("now"), later, on=on, order_by=F.col("departs").desc())
    next_flight = next_flight.select("now.flight", "now.origin", F.col("later.flight").alias("next"))
    chained = last_join(next_flight, weather, on="origin", order_by="observed").select("flight", "next", "observed")
    rows = sorted(map(tuple, chained.collect()), key=repr)
    assert rows == [(1, 2, 25), (1, 2, 25), (2, None, 25), (3, None, 7), (4, None, None), (5, None, None)]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({}, {1: 10, 2: 15, 3: None}),
        ({"tolerance": 4}, {1: 10, 2: None, 3: None}),
        ({"tolerance": 5}, {1: 10, 2: 15, 3: None}),  # a value at the limit counts
        ({"tolerance": F.lit, "order_by": "desc"}, {1: 10, 2: 25, 3: 6}),
        ({"order_by": "desc"}, {1: 10, 2: 25, 3: 6}),
    ],
    ids=["no tolerance", "too far", "just as far", "a column, descending", "descending"],
)
@pytest.mark.parametrize("hint", [*FORMS, None])
@pytest.mark.parametrize("by", ["names", "condition"])
def test_as_of_looks_back_as_far_as_tolerance(
    flights: DataFrame, weather: DataFrame, by: str, hint: str | None, arguments: dict[str, Any], found: dict[int, Any]
) -> None:
    order = weather.observed.desc() if "order_by" in arguments else "observed"
    tolerance = F.lit(5) if callable(arguments.get("tolerance")) else arguments.get("tolerance")
    if by == "names":
        joined = last_join(
            flights, weather, on="origin", order_by=order, as_of="departs", tolerance=tolerance, hint=hint
        )
        assert joined.columns == ["origin", "flight", "departs", "observed", "wind"]
    else:
        on = flights.origin == weather.origin
        joined = last_join(
            flights, weather, on=on, order_by=order, as_of=flights.departs, tolerance=tolerance, hint=hint
        )
        assert joined.columns == ["flight", "origin", "departs", "origin", "observed", "wind"]
    rows = joined.select("flight", "observed")
    assert sorted(map(tuple, rows.collect())) == sorted((n, found.get(n)) for n in (1, 1, 2, 3, 4, 5))
    if hint:
        assert_operator(rows, FORMS[hint])


@pytest.mark.parametrize(("hint", "operator"), FORMS.items())
def test_hint_is_the_reason_for_the_operator(spark: SparkSession, hint: str, operator: str) -> None:
    for arguments in ({}, {"order_by": "v"}, {"order_by": "v", "as_of": F.lit(1)}):
        joined = last_join(spark.range(3), spark.sql("SELECT 1L AS id, 2 AS v"), on="id", hint=hint, **arguments)  # type: ignore[arg-type]
        assert [(entry.operator, entry.reason) for entry in explain_dataframe(joined)] == [(operator, "hint")]


DAY = datetime.timedelta(days=1)
AS_OF = {"on": "origin", "order_by": "observed", "as_of": "departs"}


@pytest.mark.parametrize(
    ("order_type", "left", "right", "tolerance", "is_found", "bare"),
    [
        ("DATE", "2024-03-02", "2024-03-01", DAY, True, True),
        ("DATE", "2024-03-02", "2024-03-01", 1.9 * DAY, True, True),
        ("DATE", "2024-03-02", "2024-03-01", 0.9 * DAY, False, True),
        ("DATE", "2024-03-31", "2024-02-29", "INTERVAL 1 MONTH", True, True),
        ("TIMESTAMP", "2024-03-02 10:00", "2024-03-01 10:00", DAY, True, True),
        ("TIMESTAMP", "2024-03-02 10:00:00.000001", "2024-03-01 10:00", DAY, False, True),
        ("TIMESTAMP_NTZ", "2024-03-02 10:00", "2024-03-01 10:00", DAY, True, True),
        ("TIMESTAMP_NTZ", "2024-03-02 10:00:01", "2024-03-01 10:00", DAY, False, True),
        ("TINYINT", "-128", "-128", 127, True, True),
        ("SMALLINT", "100", "99", 0, False, True),
        ("SMALLINT", "32767", "-32768", 70000, True, False),
        ("INT", "-2147483648", "-2147483648", 1, True, True),  # as_of - tolerance would overflow
        ("INT", "2147483647", "-2147483648", 2**40, True, False),
        ("INT", "7", "5", Decimal("1.5"), False, False),
        ("BIGINT", "-9223372036854775808", "-9223372036854775808", 2**63 - 1, True, True),
        ("DOUBLE", "1.5", "1.0", 0.5, True, True),
        ("DOUBLE", "NaN", "1.0", float("inf"), False, True),
        ("DECIMAL(10,2)", "1.50", "1.40", Decimal("0.1"), True, False),
        ("DECIMAL(10,2)", "1.50", "1.40", Decimal("0.09"), False, False),
    ],
)
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_tolerance_of_every_type(
    spark: SparkSession,
    ansi: str,
    order_type: str,
    left: str,
    right: str,
    tolerance: Any,
    is_found: bool,
    bare: bool,
) -> None:
    lefts = spark.sql(f"SELECT 1 AS k, CAST('{left}' AS {order_type}) AS t")
    rights = spark.sql(f"SELECT 1 AS k, CAST('{right}' AS {order_type}) AS u, 'found' AS v")
    distance = F.expr(tolerance) if isinstance(tolerance, str) else tolerance
    with settings(spark, {"spark.sql.ansi.enabled": ansi}):
        joined = last_join(lefts, rights, on="k", order_by="u", as_of="t", tolerance=distance)
        assert [row.v for row in joined.collect()] == ["found" if is_found else None]
    # with a cast, the operators could not search by the right side
    assert ("cast(u#" not in executed_plan(joined)) == bare


@pytest.mark.parametrize(("hours", "found"), [(1, None), (3, "found"), (30, "found")])
def test_tolerance_of_hours_from_a_date_to_a_timestamp(spark: SparkSession, hours: int, found: str | None) -> None:
    """Hours count here, unlike between two dates, and the right side needs no cast."""
    lefts = spark.sql("SELECT 1 AS k, DATE '2024-01-03' AS t")
    rights = spark.sql("SELECT 1 AS k, TIMESTAMP '2024-01-02 22:00' AS u, 'found' AS v")
    distance = datetime.timedelta(hours=hours)
    joined = last_join(lefts, rights, on="k", order_by="u", as_of="t", tolerance=distance)
    assert [row.v for row in joined.collect()] == [found]
    assert "cast(u#" not in executed_plan(joined)
    behind = rights.withColumn("u", F.expr("u + INTERVAL 4 HOURS"))
    joined = last_join(lefts, behind, on="k", order_by=F.col("u").desc(), as_of="t", tolerance=distance)
    assert [row.v for row in joined.collect()] == [found]


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("wide", ["TINYINT", "INT", "BIGINT"])
@pytest.mark.parametrize(
    ("order", "limits", "best"),
    [
        ("asc", "u <= t AND u >= t - w", "max(u)"),
        ("desc", "u >= t AND u <= t + w", "min(u)"),
    ],
)
def test_tolerance_of_each_row_is_what_spark_subtracts(
    spark: SparkSession, ansi: str, wide: str, order: str, limits: str, best: str
) -> None:
    """A negative tolerance moves the limit to the other side of `as_of`, where nothing matches."""
    lefts = spark.sql(f"""SELECT id, CAST(t AS {wide}) AS t, CAST(w AS {wide}) AS w
        FROM VALUES (1, 5, 2), (2, 5, 0), (3, 5, -1), (4, 5, NULL), (5, -1, 120), (6, 100, -5) AS l(id, t, w)""")
    rights = spark.sql(f"SELECT CAST(u AS {wide}) AS u FROM VALUES (3), (5), (6), (-121), (-120), (97), (104) AS r(u)")
    with settings(spark, {"spark.sql.ansi.enabled": ansi}):
        term = getattr(F.col("u"), order)()
        joined = last_join(lefts, rights, on=F.lit(True), order_by=term, as_of="t", tolerance=F.col("w"))
        plain = lefts.join(rights, F.expr(limits), "left").groupBy("id", "t", "w").agg(F.expr(best).alias("u"))
        assert_same_rows(joined, plain)


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(("order", "sign"), [("asc", 1), ("desc", -1)])
def test_a_negative_tolerance_at_the_end_of_the_type_leaves_nothing(
    spark: SparkSession, ansi: str, order: str, sign: int
) -> None:
    lefts = spark.sql(f"SELECT {sign} * 2147483640 AS t, w FROM VALUES (-5), (-8), (-2147483648), (8) AS l(w)")
    rights = spark.sql(f"SELECT {sign} * u AS u FROM VALUES (5), (2147483640), (2147483645) AS r(u)")
    with settings(spark, {"spark.sql.ansi.enabled": ansi}):
        term = getattr(F.col("u"), order)()
        joined = last_join(lefts, rights, on=F.lit(True), order_by=term, as_of="t", tolerance=F.col("w"))
        found = {row.w: row.u for row in joined.collect()}
    assert found == {-5: None, -8: None, -2147483648: None, 8: sign * 2147483640}


@pytest.mark.parametrize("text", ["2 hours", " Interval '2' HOUR ", "120 minutes", "7200000 milliseconds"])
def test_tolerance_as_text_is_an_interval(spark: SparkSession, text: str) -> None:
    lefts = spark.sql("SELECT EXPLODE(ARRAY(TIMESTAMP'2024-01-01 10:00', TIMESTAMP'2024-01-01 10:01')) AS t")
    rights = spark.sql("SELECT TIMESTAMP'2024-01-01 08:00' AS u")
    joined = last_join(lefts, rights, on=F.lit(True), order_by="u", as_of="t", tolerance=text)
    assert sorted((row.t.minute, row.u is not None) for row in joined.collect()) == [(0, True), (1, False)]


@pytest.mark.parametrize(
    ("of", "zero"), [("TIMESTAMP", 0), ("TIMESTAMP_NTZ", 0.0), ("DATE", Decimal(0)), ("STRING", 0)]
)
def test_tolerance_of_nothing_finds_equal_values(spark: SparkSession, of: str, zero: Any) -> None:
    lefts = spark.sql(f"SELECT CAST(t AS {of}) AS t FROM VALUES ('2024-01-01'), ('2024-01-03') AS l(t)")
    rights = spark.sql(
        f"SELECT CAST(u AS {of}) AS u FROM VALUES ('2024-01-01'), ('2024-01-02'), ('2024-01-04') AS r(u)"
    )
    for order in (F.col("u"), F.col("u").desc()):
        joined = last_join(lefts, rights, on=F.lit(True), order_by=order, as_of="t", tolerance=zero)
        found = sorted((str(row.t)[:10], row.t == row.u) for row in joined.collect())
        assert found == [("2024-01-01", True), ("2024-01-03", False)]


@pytest.mark.parametrize(("order", "sign"), [("asc", "-"), ("desc", "+")])
def test_tolerance_of_times_stops_at_the_ends_of_the_day(spark: SparkSession, order: str, sign: str) -> None:
    """Spark's subtraction raises an error there. A negative tolerance matches nothing."""
    seconds = "DATEDIFF(SECOND, '2024-01-01', CAST('2024-01-01 ' || {} AS TIMESTAMP_NTZ))"
    with settings(spark, {"spark.sql.timeType.enabled": "true"}):
        lefts = spark.sql("""SELECT CAST(t AS TIME) AS t, w
            FROM VALUES ('00:00:00'), ('01:30:00'), ('10:00:00'), ('23:59:59') AS l(t)
            CROSS JOIN VALUES (INTERVAL '2:00:00' HOUR TO SECOND), (INTERVAL '-2:00:00' HOUR TO SECOND),
                (INTERVAL '20:00:00' HOUR TO SECOND), (INTERVAL '-20:00:00' HOUR TO SECOND),
                (INTERVAL '0:00:00' HOUR TO SECOND), (NULL) AS w(w)""")
        rights = spark.sql("""SELECT CAST(u AS TIME) AS u
            FROM VALUES ('00:00:00'), ('00:01:00'), ('08:00:00'), ('10:00:00'), ('12:00:00'), ('23:59:59') AS r(u)""")
        joined = last_join(
            lefts, rights, on=F.lit(True), order_by=getattr(F.col("u"), order)(), as_of="t", tolerance=F.col("w")
        )
        t, u = seconds.format("t"), seconds.format("u")
        w = "CAST(w AS INTERVAL SECOND)"
        limit = f"make_dt_interval(0, 0, 0, {t}) {sign} {w}"
        within = f"make_dt_interval(0, 0, 0, {u}) {'>=' if order == 'asc' else '<='} {limit}"
        within += f" AND u {'<=' if order == 'asc' else '>='} t"
        best = "max(u)" if order == "asc" else "min(u)"
        plain = lefts.join(rights, F.expr(within), "left").groupBy("t", "w").agg(F.expr(best).alias("u"))
        assert_same_rows(joined, plain)
        hours = [
            last_join(lefts, rights, on=F.lit(True), order_by="u", as_of="t", tolerance=h).where("t = TIME'01:30'")
            for h in (datetime.timedelta(hours=20), "20 hours")
        ]
        assert [{str(row.u) for row in found.collect()} for found in hours] == [{"00:01:00"}] * 2


def test_names_with_dots_are_those_of_columns(spark: SparkSession) -> None:
    lefts = spark.sql("SELECT 1 AS `a.b`, 5 AS `t.x`, STRUCT(7 AS x) AS s").alias("l")
    rights = spark.sql("SELECT 1 AS `a.b`, EXPLODE(ARRAY(4, 6, 8)) AS `u.x`").alias("r")
    for on in ("a.b", "`a.b`", ["a.b"]):
        for as_of, found in (("t.x", 4), ("`t.x`", 4), ("s.x", 6), ("l.s.x", 6)):
            joined = last_join(lefts, rights, on=on, order_by="u.x", as_of=as_of)
            assert [row["u.x"] for row in joined.collect()] == [found]
            assert joined.columns[0] == "a.b"


def test_columns_of_the_other_side_are_named(flights: DataFrame, weather: DataFrame) -> None:
    found = {}
    for argument, column in {"order_by": flights.departs.desc(), "as_of": weather.observed}.items():
        with pytest.raises(AnalysisException) as raised:
            last_join(flights, weather, **{"on": "origin", "order_by": "observed", argument: column}).collect()
        found[argument] = str(raised.value).partition("\n")[0]
        condition = raised.value.getMessageParameters()["condition"]
        assert found[argument].startswith(f"[{condition}]")
        assert raised.value.getSqlState() == "42703"
        assert found[argument] in raised.value.getMessage()
    assert found == {
        "order_by": "[JOINERY_LAST_JOIN.ORDER_BY_COLUMN] order_by of LAST JOIN takes columns of its right side, but "
        "departs is none of these: origin, observed, wind. Conditions over both sides belong into on.",
        "as_of": "[JOINERY_LAST_JOIN.AS_OF_COLUMN] as_of of LAST JOIN takes columns of its left side, but "
        "observed is none of these: flight, origin, departs. Conditions over both sides belong into on.",
    }


def test_tolerance_forwards_stops_at_the_end_of_the_type(spark: SparkSession) -> None:
    lefts = spark.sql("SELECT 1 AS k, 2147483647 AS t UNION ALL SELECT 1, 2147483640")
    rights = spark.sql("SELECT 1 AS k, 2147483647 AS u")
    joined = last_join(lefts, rights, on="k", order_by=F.col("u").desc(), as_of="t", tolerance=6)
    assert sorted(map(tuple, joined.collect()), key=repr) == [(1, 2147483640, None), (1, 2147483647, 2147483647)]
    days = spark.sql("SELECT 1 AS k, DATE '2024-02-28' AS t"), spark.sql("SELECT 1 AS k, DATE '2024-03-01' AS u")
    found = [last_join(*days, on="k", order_by=F.col("u").desc(), as_of="t", tolerance=n * DAY) for n in (1, 2)]
    assert [frame.collect()[0].u for frame in found] == [None, datetime.date(2024, 3, 1)]


def test_as_of_in_self_joins_and_chains(flights: DataFrame) -> None:
    now, earlier = flights.alias("now"), flights.alias("earlier")
    before = F.col("departs") - 1
    previous = last_join(now, earlier, on="origin", order_by="departs", as_of=before)
    previous = previous.select("origin", "now.flight", "now.departs", F.col("earlier.flight").alias("previous"))
    assert sorted(map(tuple, previous.select("flight", "previous").collect()), key=repr) == [
        (1, None), (1, None), (2, 1), (3, None), (4, None), (5, None),
    ]  # fmt: skip
    again = last_join(previous, flights.select("origin", "departs"), on="origin", order_by="departs", as_of="departs")
    assert again.count() == 6
    both = last_join(flights, flights, on="origin", order_by="departs", as_of="departs", tolerance=0)
    assert both.count() == 6


@pytest.mark.parametrize(
    ("as_of", "tolerance", "message"),
    [
        ("flight", "INTERVAL 1 DAY", "JOINERY_LAST_JOIN.TOLERANCE_TYPE] The tolerance of a LAST JOIN as of a INT"),
        ("origin", "3", "JOINERY_LAST_JOIN.TOLERANCE_TYPE] The tolerance of a LAST JOIN as of a STRING"),
        ("observed", None, "UNRESOLVED_COLUMN"),  # a column of the right side
        ("rand()", None, "JOINERY_LAST_JOIN.NONDETERMINISTIC_ON"),
        ("max(departs)", None, "UNSUPPORTED_EXPR_FOR_OPERATOR"),
    ],
)
def test_what_spark_finds_wrong_with_as_of(
    flights: DataFrame, weather: DataFrame, as_of: str, tolerance: str | None, message: str
) -> None:
    distance = None if tolerance is None else F.expr(tolerance)
    with pytest.raises(AnalysisException) as raised:
        last_join(flights, weather, on="origin", order_by="observed", as_of=F.expr(as_of), tolerance=distance).collect()
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"on": "origin", "as_of": 3}, "as_of must be a column name or a Column of left, not int (3)"),
        ({"on": "origin", "as_of": "departs"}, "as_of is compared with the first column of order_by; name"),
        ({"on": "origin", "tolerance": 3}, "tolerance is a distance from as_of; name the left side's time there"),
        ({**AS_OF, "tolerance": "3"}, "tolerance as text must be an interval such as '2 hours' (microsecond, milli"),
        ({**AS_OF, "tolerance": "1 DAY) OR (TRUE"}, "tolerance as text must be an interval such as '2 hours'"),
        ({**AS_OF, "tolerance": True}, "an interval such as '2 hours', a number or a Column, not bool (True)"),
        ({**AS_OF, "tolerance": -1}, "tolerance must not be negative, but is -1"),
        ({**AS_OF, "tolerance": float("nan")}, "tolerance must not be negative, but is nan"),
        ({**AS_OF, "tolerance": Decimal("NaN")}, "tolerance must not be negative, but is Decimal('NaN')"),
        ({**AS_OF, "tolerance": -DAY}, "tolerance must not be negative, but is datetime.timedelta(days=-1)"),
        ({"on": "origin", "hint": "BROADCAST"}, "hint must be one of broadcast, merge, shuffle_hash, not str ('BROAD"),
        ({"on": 3}, "on must be a column name, a list of column names or a Column, not int (3)"),
        ({"on": None}, "on must be a column name, a list of column names or a Column, not None"),
        ({"on": []}, "on is an empty list"),
        ({"on": ["origin", 3]}, "the list given as on must hold column names, not int (3)"),
        ({"on": "origin", "order_by": 3}, "order_by must be a column name, a Column or a list of these, not int (3)"),
        ({"on": "origin", "order_by": []}, "order_by is an empty list; leave it out if any match will do"),
        ({"on": "origin", "order_by": [None]}, "order_by must hold column names and Columns, not None"),
        ({"on": "origin", "right": "weather"}, "right must be a DataFrame, not str ('weather')"),
    ],
)
def test_wrong_arguments_are_named(
    flights: DataFrame, weather: DataFrame, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        last_join(flights, **{"right": weather, **arguments})
    assert message in str(raised.value)


def test_a_list_of_conditions_says_how_to_combine_them(flights: DataFrame, weather: DataFrame) -> None:
    with pytest.raises(InvalidArgumentError, match="combine conditions with &"):
        last_join(flights, weather, on=[flights.origin == weather.origin])  # type: ignore[list-item]


def test_streaming_left_side_joins_each_batch_with_the_rows_of_its_time(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("CREATE TABLE prices (at INT, price INT, product INT) USING parquet PARTITIONED BY (product)")
    spark.sql("INSERT INTO prices VALUES (1, 10, 7)")
    orders = spark.readStream.schema("id INT, product INT, at INT").csv(str(tmp_path))
    prices = spark.table("prices").withColumnRenamed("at", "since")
    priced = last_join(orders, prices, on="product", order_by="since", as_of="at").select("id", "price")
    query = priced.writeStream.format("memory").queryName("priced").start()
    try:
        for id in (1, 2):
            (tmp_path / f"_{id}").write_text(f"{id},7,9")
            (tmp_path / f"_{id}").rename(tmp_path / f"{id}.csv")
            query.processAllAvailable()
            spark.sql("INSERT INTO prices VALUES (2, 20, 7)")
    finally:
        query.stop()
        spark.sql("DROP TABLE prices")
    assert sorted(spark.table("priced").collect()) == [(1, 10), (2, 20)]
    with pytest.raises(AnalysisException, match=r"JOINERY_LAST_JOIN\.STREAMING"):
        last_join(prices, orders, on="product", order_by="at")


WITHOUT_THE_JAR = """
import json
from pyspark.sql import SparkSession, functions as F
from spark_joinery import JoineryError, last_join, range_join
from spark_joinery.plan_report import explain_sql

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
left, right = spark.range(3), spark.range(4)
messages = {}
for name, action in {
    "last_join": lambda: last_join(left, right, on="id"),
    "range_join": lambda: range_join(left, right, left_point="id", right_interval=("id", "id")),
    "marker": lambda: left.join(right.filter(F.call_function("joinery_last_join_order")), "id", "left").collect(),
    "explain": lambda: explain_sql(spark, "SELECT 1"),
}.items():
    try:
        action()
    except Exception as error:
        messages[name] = [isinstance(error, JoineryError), str(error)]
print(json.dumps(messages))
"""


def test_without_the_jar_one_clear_message() -> None:
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", WITHOUT_THE_JAR]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    messages = json.loads(done.stdout)
    for name in ("last_join", "range_join", "explain"):
        assert messages[name][0]
        assert "configure_spark" in messages[name][1]
    # the unknown function that marks the order makes such a join fail; otherwise it would return every match
    assert "joinery_last_join_order" in messages["marker"][1]
