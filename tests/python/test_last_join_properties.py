"""LAST JOIN gives the documented answer for generated queries, data and settings.

The dimensions are in tests/support/last_join_cases.py. `make test` runs every pair of their values, and then draws
cases from the whole product for a while; `make soak` runs the product. Tests that draw print their seed, and
``JOINERY_SEED`` sets it. ``JOINERY_RANDOM_SECONDS`` sets how long to draw, and ``JOINERY_PRODUCT_SHARE`` (0 to 1) how
much of the product `make soak` runs.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest
from pyspark.sql import SparkSession
from support.answers import STOCK, assert_operator, settings
from support.last_join_cases import DIMENSIONS, KEYS, ORDER_TYPES, SWITCHES, Query, allowed, load
from support.pairwise import Case, pairwise

FIXED_SEED = 20263
# The oracle runs small queries, so everything that makes large queries fast is off.
ORACLE = {
    **STOCK,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
}
PAIRS = [case for n in range(2) for case in pairwise(DIMENSIONS, FIXED_SEED + n, allowed)]
# Few rows can hide a wrong answer, so these cases also run on many rows.
PAIRS += [{**case, "data": "rows"} for case in PAIRS if case["data"] not in ("rows", "hot key")]

Answers = Mapping[int, set[str]]


@pytest.fixture(scope="module")
def random_seed() -> int:
    return int(os.environ.get("JOINERY_SEED") or random.randrange(2**32))


@pytest.fixture(autouse=True)
def clean_up(spark: SparkSession) -> Iterator[None]:
    yield
    for view in ("all_l", "all_r", "l", "r"):
        spark.catalog.dropTempView(view)


def answers(spark: SparkSession, query: Query) -> Answers:
    """The answers that stock Spark allows for each left row, by its id."""
    rows = defaultdict(set)
    with settings(spark, {**ORACLE, "spark.sql.ansi.enabled": query.case["ansi"]}):
        for row in spark.sql(query.answers_sql).collect():
            rows[row.id].add(repr(tuple(row)))
    if query.case["ties"] == "total order":
        assert all(len(candidates) == 1 for candidates in rows.values())
    return rows


def check(spark: SparkSession, query: Query, right: Answers) -> None:
    """Assert that each left row is returned once, with an allowed answer, by the operator that was asked for."""
    with settings(spark, query.settings):
        joined = spark.sql(query.sql)
        rows = joined.collect()
        # no operator runs if the left side is empty, or if keys may fail and the right side is empty
        if rows and (query.case["key"] != "expression" or any(row.right_id is not None for row in rows)):
            assert_operator(joined, query.operator)
    assert sorted(row.id for row in rows) == sorted(right), query
    for row in rows:
        assert repr(tuple(row)) in right[row.id], f"{query}\n{query.sql}\nfound {row}, not {right[row.id]}"


def run(spark: SparkSession, case: Case) -> None:
    query = Query(case)
    query.use(spark)
    check(spark, query, answers(spark, query))


@pytest.mark.parametrize("order_type", ORDER_TYPES)
def test_every_two_values_together(spark: SparkSession, order_type: str) -> None:
    load(spark, FIXED_SEED)
    for case in PAIRS:
        if case["type"] == order_type:
            run(spark, case)


def test_random_cases_for_a_while(spark: SparkSession, random_seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = float(os.environ.get("JOINERY_RANDOM_SECONDS", "15"))
    generator = random.Random(random_seed)
    load(spark, random_seed)
    end, cases = time.monotonic() + seconds, 0
    try:
        while cases == 0 or time.monotonic() < end:
            case = {name: generator.choice(values) for name, values in DIMENSIONS.items()}
            if allowed(case):
                run(spark, case)
                cases += 1
    finally:
        with capsys.disabled():
            print(f"\nLAST JOIN: {cases} random cases, JOINERY_SEED={random_seed}")


ASKED = ("direction", "ties", "comparison", "tolerance", "residual")


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("order_type", ORDER_TYPES)
def test_the_whole_product(
    spark: SparkSession, random_seed: int, capsys: pytest.CaptureFixture[str], order_type: str, key: str
) -> None:
    """Run every query on every operator. This takes some ten minutes for each test, and hours in all.

    The switches and the data are drawn at random for each query, because all of them would take 80 times as long.
    """
    generator = random.Random(f"{random_seed} {order_type} {key}")
    share = float(os.environ.get("JOINERY_PRODUCT_SHARE", "1"))
    load(spark, generator.randrange(2**32))
    cases = 0
    for values in itertools.product(*(DIMENSIONS[name] for name in ASKED)):
        case = {"type": order_type, "key": key, **dict(zip(ASKED, values, strict=True))}
        if not allowed(case) or generator.random() >= share:
            continue
        case.update({name: generator.choice(DIMENSIONS[name]) for name in ("ansi", "data")})
        right: Answers | None = None
        for hint in DIMENSIONS["hint"]:
            drawn = {name: generator.choice(DIMENSIONS[name]) for name in SWITCHES if name != "ansi"}
            query = Query({**case, **drawn, "hint": hint})
            if right is None:
                query.use(spark)
                right = answers(spark, query)
            check(spark, query, right)
            cases += 1
    with capsys.disabled():
        print(f"\nLAST JOIN, {order_type}, {key}: {cases} cases, JOINERY_SEED={random_seed}")
