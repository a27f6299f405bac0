"""LAST JOIN over generated data: whatever the data, the answer is the documented one."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from support.answers import STOCK, assert_operator
from support.answers import settings as confs

NAN = float("nan")
INFINITY = float("inf")
UTC = datetime.timezone.utc

# Few values of each type, so that ties and matches are frequent; among them the ones that sort oddly.
ORDER_TYPES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int": (pa.int32(), [-(2**31), -1, 0, 1, 2**31 - 1]),
    "double": (pa.float64(), [-INFINITY, -0.0, 0.0, 1.5, INFINITY, NAN]),
    "string": (pa.string(), ["", "a", "aa", "B", "ä", "😀"]),
    "date": (pa.date32(), [datetime.date(y, m, d) for y, m, d in [(1, 1, 1), (1969, 12, 31), (2024, 2, 29)]]),
    "timestamp": (
        pa.timestamp("us", tz="UTC"),
        [datetime.datetime(2024, 1, 1, 0, 0, 0, micros, UTC) for micros in (0, 1, 999_999)],
    ),
    "decimal": (pa.decimal128(10, 2), [Decimal(text) for text in ("-99999999.99", "0.00", "0.01", "1.10")]),
}
# ORDER BY of LAST JOIN, and the reverse, which puts the last row first for the oracle
DIRECTIONS = {
    "": "DESC NULLS LAST",
    "ASC NULLS LAST": "DESC NULLS FIRST",
    "DESC": "ASC NULLS FIRST",
    "DESC NULLS FIRST": "ASC NULLS LAST",
}
KEYS = ["l.k = r.k", "l.k <=> r.k", "l.k <= r.k AND l.k >= r.k"]
RESIDUALS = ["true", "r.o <= l.o", "r.o < l.o OR r.v > l.v", "l.v > 1", "r.v > 1"]


@dataclass(frozen=True)
class Query:
    """What one example asks for."""

    direction: str | None  # None: no ORDER BY
    tie_break: bool
    same_case: str
    keys: str
    residual: str

    @property
    def condition(self) -> str:
        return f"{self.same_case} AND {self.keys} AND ({self.residual})"

    @property
    def sql(self) -> str:
        terms = [] if self.direction is None else [f"r.o {self.direction}"]
        terms += ["r.id DESC"] if self.tie_break else []
        order = f"ORDER BY {', '.join(terms)}" if terms else ""
        return f"SELECT l.id, r.id AS right_id, r.o, r.v FROM l LAST JOIN r {order} ON {self.condition}"

    @property
    def candidates_sql(self) -> str:
        """All rows that LAST JOIN may give for a left row: those that share the last place."""
        terms = [] if self.direction is None else [f"r.o {DIRECTIONS[self.direction]}"]
        terms += ["r.id ASC"] if self.tie_break else []
        return f"""
            SELECT id, right_id, o, v FROM (
              SELECT l.id, r.id AS right_id, r.o, r.v,
                     rank() OVER (PARTITION BY l.id ORDER BY {", ".join(terms) or "1"}) AS place
              FROM l LEFT JOIN r ON {self.condition}
            ) WHERE place = 1"""


queries = st.builds(
    Query,
    direction=st.sampled_from([None, *DIRECTIONS]),
    tie_break=st.booleans(),
    # the second form leaves no equality to hash, sort or shuffle by
    same_case=st.sampled_from(["l.c = r.c", "l.c <= r.c AND l.c >= r.c"]),
    keys=st.sampled_from(KEYS),
    residual=st.sampled_from(RESIDUALS),
)
modes = st.fixed_dictionaries(
    {
        "spark.sql.adaptive.enabled": st.sampled_from(["true", "false"]),
        "spark.sql.codegen.wholeStage": st.sampled_from(["true", "false"]),
    }
)


def batches(values: list[Any]) -> st.SearchStrategy[list[tuple[list[Any], list[Any]]]]:
    """Many small joins, which one Spark job computes: pairs of a left and a right side, either may be empty."""
    row = st.tuples(st.sampled_from([None, 0, 0, 1]), st.sampled_from([None, *values]), st.integers(0, 3))
    side = st.lists(row, max_size=7)
    return st.lists(st.tuples(side, side), min_size=1, max_size=30)


def load(spark: SparkSession, view: str, sides: list[list[Any]], order_type: pa.DataType) -> list[int]:
    """Register one side of a batch as a view of columns c (the case), id, k, o, v; returns the ids."""
    rows = [(case, *row) for case, side in enumerate(sides) for row in side]
    columns = list(zip(*rows, strict=True)) or [()] * 4
    ids = list(range(len(rows)))
    types = {"c": pa.int32(), "k": pa.int32(), "o": order_type, "v": pa.int32(), "id": pa.int32()}
    arrays = [pa.array(values, kind) for values, kind in zip([*columns, ids], types.values(), strict=True)]
    spark.createDataFrame(pa.table(arrays, names=list(types))).createOrReplaceTempView(view)
    return ids


def check(spark: SparkSession, order_type: str, batch: list[Any], query: Query, mode: dict[str, str]) -> None:
    arrow_type, _ = ORDER_TYPES[order_type]
    left_ids = load(spark, "l", [left for left, _ in batch], arrow_type)
    right_ids = load(spark, "r", [right for _, right in batch], arrow_type)
    candidates = defaultdict(set)
    with confs(spark, STOCK):
        for row in spark.sql(query.candidates_sql).collect():
            candidates[row.id].add(repr(tuple(row)))
    if query.tie_break:
        assert all(len(rows) == 1 for rows in candidates.values())

    for operator, threshold in (("BroadcastLastJoin", "10MB"), ("SortMergeLastJoin", "-1")):
        with confs(spark, {**mode, "spark.sql.autoBroadcastJoinThreshold": threshold}):
            joined = spark.sql(query.sql)
            rows = joined.collect()
            if left_ids and right_ids:
                assert_operator(joined, operator)
        assert sorted(row.id for row in rows) == left_ids
        for row in rows:
            assert repr(tuple(row)) in candidates[row.id], f"{operator}, {query.sql}: {row}"


def property_of(order_type: str, examples: int, derandomize: bool) -> Callable[[SparkSession], None]:
    """The property for one type, as a function of the session alone."""

    @settings(
        max_examples=examples,
        derandomize=derandomize,
        deadline=None,
        database=None,
        # a failing batch is small enough to read; shrinking it takes minutes of Spark jobs
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(batch=batches(ORDER_TYPES[order_type][1]), query=queries, mode=modes)
    def run(spark: SparkSession, batch: list[Any], query: Query, mode: dict[str, str]) -> None:
        check(spark, order_type, batch, query, mode)

    return run


@pytest.mark.parametrize("order_type", ORDER_TYPES)
def test_every_left_row_once_with_its_last_match(spark: SparkSession, order_type: str) -> None:
    property_of(order_type, examples=5, derandomize=True)(spark)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("order_type", ORDER_TYPES)
def test_every_left_row_once_with_its_last_match_at_length(spark: SparkSession, order_type: str) -> None:
    property_of(order_type, examples=200, derandomize=False)(spark)
