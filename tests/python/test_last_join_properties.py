"""LAST JOIN over generated data: whatever the data, the answer is the documented one."""

from __future__ import annotations

import datetime
import random
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from support.answers import STOCK, assert_operator
from support.answers import settings as confs

NAN = float("nan")
INFINITY = float("inf")
UTC = datetime.timezone.utc

# Few values of each type, so that ties and matches are frequent; among them the ones that sort oddly.
ORDER_TYPES: dict[str, tuple[pa.DataType, Sequence[object]]] = {
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
    "ASC": "DESC NULLS LAST",
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


@dataclass(frozen=True)
class Batch:
    """Many small joins, which one Spark job computes; each has few rows or none on either side."""

    seed: int
    order_type: str

    def load(self, spark: SparkSession) -> tuple[int, int]:
        """Register the views l and r of columns c (the case), k, o, v and id; returns their sizes."""
        generator = random.Random(self.seed)
        return self._load_side(spark, "l", generator), self._load_side(spark, "r", generator)

    def _load_side(self, spark: SparkSession, view: str, generator: random.Random) -> int:
        arrow_type, values = ORDER_TYPES[self.order_type]
        sizes = [generator.choice([0, 1, 1, 2, 5, 9]) for _ in range(40)]
        cases = [case for case, size in enumerate(sizes) for _ in range(size)]
        pools = {"k": [None, 0, 0, 1], "o": [None, *values], "v": [0, 1, 2, 3]}
        drawn = {name: [generator.choice(pool) for _ in cases] for name, pool in pools.items()}
        types = {name: arrow_type if name == "o" else pa.int32() for name in ("c", "k", "o", "v", "id")}
        columns = {"c": cases, **drawn, "id": range(len(cases))}
        table = pa.table({name: pa.array(columns[name], kind) for name, kind in types.items()})
        spark.createDataFrame(table).createOrReplaceTempView(view)
        return len(cases)


def check(spark: SparkSession, batch: Batch, query: Query, mode: dict[str, str]) -> None:
    left_size, _ = batch.load(spark)
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
            assert_operator(joined, operator)
        assert sorted(row.id for row in rows) == list(range(left_size))
        for row in rows:
            assert repr(tuple(row)) in candidates[row.id], f"{operator}, {query.sql}: {row}"


def property_of(order_type: str, direction: str | None, examples: int) -> Callable[[SparkSession], None]:
    """The property for one type and direction, as a function of the session alone."""
    queries = st.builds(
        Query,
        direction=st.just(direction),
        tie_break=st.booleans(),
        # the second form leaves no equality to hash, sort or shuffle by
        same_case=st.sampled_from(["l.c = r.c", "l.c <= r.c AND l.c >= r.c"]),
        keys=st.sampled_from(KEYS),
        residual=st.sampled_from(RESIDUALS),
    )
    switches = ("spark.sql.adaptive.enabled", "spark.sql.codegen.wholeStage")
    modes = st.fixed_dictionaries({switch: st.sampled_from(["true", "false"]) for switch in switches})
    batches = st.builds(Batch, seed=st.integers(0, 2**32), order_type=st.just(order_type))

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a batch is a seed: there is nothing to shrink
        suppress_health_check=list(HealthCheck),
    )
    @given(batch=batches, query=queries, mode=modes)
    def run(spark: SparkSession, batch: Batch, query: Query, mode: dict[str, str]) -> None:
        check(spark, batch, query, mode)

    return run


@pytest.mark.parametrize("direction", [None, *DIRECTIONS])
@pytest.mark.parametrize("order_type", ORDER_TYPES)
def test_every_left_row_once_with_its_last_match(spark: SparkSession, order_type: str, direction: str | None) -> None:
    # the same examples on every run, but others for each parameter
    examples = seed(zlib.crc32(f"{order_type} {direction}".encode()))
    examples(property_of(order_type, direction, examples=2))(spark)


@pytest.mark.soak
@pytest.mark.parametrize("direction", [None, *DIRECTIONS])
@pytest.mark.parametrize("order_type", ORDER_TYPES)
def test_at_length_with_other_examples_each_time(spark: SparkSession, order_type: str, direction: str | None) -> None:
    property_of(order_type, direction, examples=50)(spark)
