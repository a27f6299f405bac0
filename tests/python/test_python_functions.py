"""Python functions work in ON and ORDER BY of LAST JOIN and ASOF JOIN as in an ordinary join."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pandas as pd
import pytest
from pyspark import cloudpickle
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from spark_joinery import last_join
from support.answers import assert_operator, assert_same_rows, settings

FORMS = {"BROADCAST": "BroadcastLastJoin", "SHUFFLE_HASH": "ShuffledHashLastJoin", "MERGE": "SortMergeLastJoin"}
ON = [
    "later(l.k) = later(r.k)",
    "l.k = r.k AND r.o <= later(l.o)",
    "l.k = r.k AND later(r.o) < l.o AND late(r.v) > 2",
    "l.k = r.k AND (later(r.v) > 2 OR later(l.v) = late(l.v))",
    "l.k = r.k AND r.o <= l.o AND later(later(l.v)) >= r.v",
    "l.k = r.k AND later(l.v) IN (SELECT later(v) FROM r)",
]


def later(value: int | None) -> int | None:
    """Add one to a value."""
    return None if value is None else value + 1


def late(values: pd.Series) -> pd.Series:
    """Add one to many values."""
    return values + 1


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> Iterator[None]:
    for name, rows in (("l", 40), ("r", 30)):
        columns = "int(id) AS id, int(id % 4) AS k, int(id * 7 % 41) AS o, if(id % 9 = 0, NULL, int(id % 5)) AS v"
        spark.sql(f"SELECT {columns} FROM range({rows})").createOrReplaceTempView(name)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # Spark's Python workers cannot import tests
    spark.udf.register("later", later, "int")
    spark.udf.register("late", F.pandas_udf(late, "int"))
    yield
    for name in ("l", "r"):
        spark.catalog.dropTempView(name)
    for name in ("later", "late"):
        spark.sql(f"DROP TEMPORARY FUNCTION {name}")
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.mark.parametrize(("on", "hint"), [(on, list(FORMS)[i % 3]) for i, on in enumerate(ON)])
def test_on(spark: SparkSession, on: str, hint: str) -> None:
    found = spark.sql(f"SELECT /*+ {hint}(r) */ l.id, r.id AS right_id FROM l l LAST JOIN r ORDER BY r.o, r.id ON {on}")
    assert_same_rows(found, last(spark, "r.o DESC, r.id DESC", on))
    assert_operator(found, FORMS[hint])


@pytest.mark.parametrize(
    ("hint", "on"),
    [
        ("BROADCAST", "l.k = r.k AND later(r.o) <= l.o"),
        ("SHUFFLE_HASH", "l.k = r.k"),
        ("MERGE", "later(r.o) <= l.o"),
    ],
)
def test_order_by(spark: SparkSession, hint: str, on: str) -> None:
    order = "later(r.o) DESC NULLS LAST, late(r.v)"
    found = spark.sql(f"SELECT /*+ {hint}(r) */ l.id, r.id AS right_id FROM l l LAST JOIN r ORDER BY {order} ON {on}")
    assert_same_rows(found, last(spark, "later(r.o) ASC NULLS FIRST, late(r.v) DESC", on))
    assert_operator(found, FORMS[hint])


def test_of_no_column(spark: SparkSession) -> None:
    found = spark.sql(
        "SELECT l.id, r.id AS right_id FROM l l LAST JOIN r ORDER BY later(3), r.o, r.id ON l.k = r.k AND later(3) = 4"
    )
    assert_same_rows(found, last(spark, "r.o DESC, r.id DESC", "l.k = r.k"))


def last(spark: SparkSession, order: str, on: str) -> DataFrame:
    """The last match of each left row by an ordinary join; `order` is the reverse of LAST JOIN's."""
    place = f"row_number() OVER (PARTITION BY l.id ORDER BY {order}) AS place"
    joined = f"SELECT l.id, r.id AS right_id, {place} FROM l LEFT JOIN r ON {on}"
    return spark.sql(f"SELECT id, right_id FROM ({joined}) WHERE place = 1")


@pytest.mark.parametrize(
    ("kind", "match", "on"),
    [
        ("INNER", "l.o >= r.o", "later(l.k) = later(r.k)"),
        ("LEFT", "l.o >= later(r.o)", "l.k = r.k AND late(r.v) > 2"),
        ("INNER", "later(r.o) > late(l.o)", "l.k = r.k AND l.v < 4"),
    ],
)
def test_asof_join(spark: SparkSession, kind: str, match: str, on: str) -> None:
    query = f"SELECT l.id, r.id AS right_id FROM l {kind} ASOF JOIN r MATCH_CONDITION ({match}) ON {on}"
    found = spark.sql(query)
    with settings(spark, {"spark.joinery.asofJoin.enabled": "false", "spark.sql.join.asofJoin.enabled": "true"}):
        expected = spark.sql(query)
        assert_same_rows(found, expected)
    assert_operator(found, "BroadcastLastJoin")


@pytest.mark.parametrize(
    ("join", "condition"),
    [
        ("l LAST JOIN r ORDER BY r.o ON l.k = r.k AND later(l.v + r.v) > 3", "JOINERY_LAST_JOIN.PYTHON_UDF_ON"),
        ("ASOF JOIN r MATCH_CONDITION (l.o >= r.o) ON l.k = r.k AND later(l.v + r.v) > 3", "JOINERY_ASOF_JOIN.ON"),
    ],
)
def test_columns_of_both_sides_are_refused(spark: SparkSession, join: str, condition: str) -> None:
    with pytest.raises(AnalysisException) as caught:
        spark.sql(f"SELECT * FROM l {join}")
    assert f"[{condition}]" in str(caught.value)
    assert "later((v + v)) takes some of both; call it after the join" in str(caught.value)


def test_columns_of_both_sides_are_refused_beside_an_order_that_is_not_shown(spark: SparkSession) -> None:
    left, right = spark.table("l"), spark.table("r")
    fewer = right.select("k", "v")
    both = (left.k == fewer.k) & (F.call_function("later", left.v + fewer.v) > 3)
    with pytest.raises(AnalysisException, match=r"later\(\(v \+ v\)\) takes some of both; call it after the join"):
        last_join(left, fewer, on=both, order_by="o")


def test_order_and_time_that_a_side_does_not_show(spark: SparkSession) -> None:
    left, right = spark.table("l").withColumnRenamed("id", "left_id"), spark.table("r")
    arguments = {"on": "k", "order_by": [F.call_function("later", "o"), "id"], "as_of": F.call_function("late", "o")}
    shown = last_join(left, right, **arguments)
    found = last_join(left.select("left_id", "k"), right.select("k", "v"), **arguments)
    assert_same_rows(found, shown.select("k", "left_id", right.v))
    assert found.where("v IS NOT NULL").count() > 0
