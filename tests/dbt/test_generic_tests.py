"""The generic tests of the package: the rows that pass, the rows that fail, and wrong arguments."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from support.dbt_project import SCHEMA, Dbt, MacroError, table, write_project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt


def failing(spark: SparkSession, dbt: Dbt, test: str, query: str, **arguments: Any) -> list[tuple[Any, ...]]:
    """The rows that a generic test returns when it tests a query."""
    spark.sql(f"create or replace view {SCHEMA}.tested as {query}")
    sql = dbt.render(f"test_{test}", model=table("tested"), **arguments)
    return sorted((tuple(row) for row in spark.sql(sql).collect()), key=str)


@pytest.mark.parametrize(
    ("rows", "expected", "found"), [(3, 3, []), (0, 0, []), (4, 3, [(4, 3)]), (2, 3, [(2, 3)]), (0, 3, [(0, 3)])]
)
def test_row_count_preserved(
    spark: SparkSession, dbt: Dbt, rows: int, expected: int, found: list[tuple[int, int]]
) -> None:
    spark.sql(f"create or replace view {SCHEMA}.expected_rows as select id from range({expected})")
    compared = table("expected_rows")
    query = f"select cast(null as int) as id from range({rows})"
    assert failing(spark, dbt, "row_count_preserved", query, compare_model=compared) == found


@pytest.mark.parametrize(("strict", "found"), [(False, [(3, 2)]), (True, [(2, 2), (3, 2)])])
def test_no_future_rows(spark: SparkSession, dbt: Dbt, strict: bool, found: list[tuple[int, int]]) -> None:
    rows = (
        "select * from values (1, 2), (2, 2), (3, 2), (null, 2), (3, null), (null, null) as t(`odd ``name`, `select`)"
    )
    arguments = {"column_name": "odd `name", "not_after": "select", "strict": strict}
    assert failing(spark, dbt, "no_future_rows", rows, **arguments) == found
    assert failing(spark, dbt, "no_future_rows", f"select * from ({rows}) where false", **arguments) == []
    quoted = arguments | {"column_name": "`odd ``name`", "not_after": "`select`"}  # as dbt quotes under `quote: true`
    assert failing(spark, dbt, "no_future_rows", rows, **quoted) == found


OVERLAPS = "overlaps an earlier interval"
REVERSED = "ends before it starts"


@pytest.mark.parametrize(
    ("intervals", "bounds", "found"),
    [
        ("(1, 3), (3, 5), (5, 9)", "[)", []),
        ("(1, 3), (3, 5)", "[]", [(3, 5, OVERLAPS)]),
        ("(1, 3), (3, 5)", "(]", []),
        ("(1, 3), (3, 5)", "()", []),
        ("(1, 3), (2, 5)", "()", [(2, 5, OVERLAPS)]),
        ("(1, 9), (2, 3), (4, 5)", "[)", [(2, 3, OVERLAPS), (4, 5, OVERLAPS)]),  # not only the neighbour
        ("(1, 3), (1, 3)", "[)", [(1, 3, OVERLAPS)]),
        ("(4, 4), (1, 9)", "[)", []),  # an empty interval
        ("(4, 4), (1, 9)", "[]", [(4, 4, OVERLAPS)]),
        ("(9, 1), (2, 3)", "[)", [(9, 1, REVERSED)]),
        ("(1, 3), (3, null)", "[)", []),
        ("(1, null), (3, 5)", "[)", [(3, 5, OVERLAPS)]),
        ("(1, null), (3, null)", "[)", [(3, None, OVERLAPS)]),
        ("(null, 3), (3, 5)", "[)", []),
        ("(null, 3), (2, 5)", "[)", [(2, 5, OVERLAPS)]),
        ("(null, 3), (null, 1)", "[)", [(None, "either", OVERLAPS)]),
        ("(null, null)", "[]", []),
    ],
)
def test_intervals_do_not_overlap(
    spark: SparkSession, dbt: Dbt, intervals: str, bounds: str, found: list[tuple[Any, ...]]
) -> None:
    rows = f"select int(a) as `from`, int(b) as `to` from values {intervals} as t(a, b)"
    arguments = {"start": "from", "end": "to", "bounds": bounds}
    overlapping = failing(spark, dbt, "intervals_do_not_overlap", rows, **arguments)
    if found and found[0][1] == "either":  # if both have the same start, either is the earlier one
        assert len(overlapping) == 1
    else:
        assert overlapping == sorted(found, key=str)


@pytest.mark.parametrize("bounds", ["[)", "[]"])
def test_random_intervals_against_every_pair(spark: SparkSession, dbt: Dbt, bounds: str) -> None:
    pick = random.Random(20263)
    rows = [
        tuple(None if pick.random() < 0.1 else pick.randint(0, highest) for highest in (30, 25, 25)) for _ in range(100)
    ]
    frame = spark.createDataFrame([(n, *row) for n, row in enumerate(rows)], "n int, k int, a int, b int")
    frame.write.mode("overwrite").saveAsTable(f"{SCHEMA}.random_intervals")
    before = "<=" if bounds == "[]" else "<"
    holds_a_point = f"(a {before} b or a is null or b is null)"
    overlapping = spark.sql(f"""
        with holding as (select * from {SCHEMA}.random_intervals where {holds_a_point})
        select x.n as one, y.n as other, x.k from holding x join holding y on x.k <=> y.k and x.n < y.n
          and (x.a is null or y.b is null or x.a {before} y.b) and (y.a is null or x.b is null or y.a {before} x.b)
        """).collect()
    arguments = {"start": "a", "end": "b", "partition_by": ["k"], "bounds": bounds}
    found = failing(spark, dbt, "intervals_do_not_overlap", f"select * from {SCHEMA}.random_intervals", **arguments)
    late = {row[0]: row[1] for row in found if row[-1] == OVERLAPS}
    assert overlapping
    assert set(late) <= {n for pair in overlapping for n in (pair.one, pair.other)}
    assert set(late.values()) == {pair.k for pair in overlapping}
    assert {row[0] for row in found if row[-1] == REVERSED} == {
        n for n, (_, a, b) in enumerate(rows) if reversed_(a, b)
    }


def reversed_(start: int | None, end: int | None) -> bool:
    """Whether an interval ends before it starts."""
    return start is not None and end is not None and end < start


def test_intervals_of_different_keys_may_overlap(spark: SparkSession, dbt: Dbt) -> None:
    rows = "select * from values ('x', 1, 5), ('y', 1, 5), (null, 1, 5), (null, 4, 6) as t(k, a, b)"
    arguments = {"start": "a", "end": "b", "partition_by": ["k"]}
    assert failing(spark, dbt, "intervals_do_not_overlap", rows, **arguments) == [(None, 4, 6, OVERLAPS)]
    assert failing(spark, dbt, "intervals_do_not_overlap", f"{rows} where false", **arguments) == []


@pytest.mark.parametrize(
    ("key", "max_share", "min_rows", "found"),
    [
        ({"column_name": "k"}, 0.5, 0, []),  # exactly half passes
        ({"column_name": "k"}, 0.49, 0, [("hot", 5, 0.5)]),
        ({"column_name": "k"}, 0.25, 0, [("hot", 5, 0.5), (None, 3, 0.3)]),
        ({"column_name": "k"}, 0.25, 4, [("hot", 5, 0.5)]),
        ({"partition_by": ["k", "row count"]}, 0.25, 0, []),
    ],
)
def test_skew_below(
    spark: SparkSession, dbt: Dbt, key: dict[str, Any], max_share: float, min_rows: int, found: list[tuple[Any, ...]]
) -> None:
    rows = """select case when id < 5 then 'hot' when id < 8 then null else string(id) end as k, id as `row count`
        from range(10)"""
    arguments = {"max_share": max_share, "min_rows": min_rows, **key}
    assert failing(spark, dbt, "skew_below", rows, **arguments) == sorted(found, key=str)
    # a window over all rows makes Spark warn that no partition is defined
    assert "over (" not in dbt.render("test_skew_below", model=table("tested"), **arguments)
    assert failing(spark, dbt, "skew_below", f"select * from ({rows}) where false", **arguments) == []


COUNT: dict[str, Any] = {"compare_model": table("expected_rows")}
FUTURE: dict[str, Any] = {"column_name": "a", "not_after": "b"}
INTERVALS: dict[str, Any] = {"start": "a", "end": "b"}
SKEW: dict[str, Any] = {"column_name": "a", "max_share": 0.5}
WRONG = [
    ("row_count_preserved", {}, "compare_model", "is missing"),
    (
        "row_count_preserved",
        {"compare_model": "flights"},
        "compare_model",
        "must be a relation (ref or source), but is",
    ),
    ("row_count_preserved", {**COUNT, "compare_to": "x"}, "compare_to", "is unknown; it takes compare_model"),
    ("no_future_rows", {"not_after": "b"}, "column_name", "is missing"),
    ("no_future_rows", {"column_name": "a"}, "not_after", "is missing"),
    ("no_future_rows", {**FUTURE, "not_after": ["b"]}, "not_after", "must be the name of a column, but is ['b']"),
    ("no_future_rows", {**FUTURE, "column_name": " "}, "column_name", "must be the name of a column, but is ' '"),
    ("no_future_rows", {**FUTURE, "strict": "yes"}, "strict", "must be one of True, False, but is 'yes'"),
    ("no_future_rows", {**FUTURE, "then": 1}, "then", "is unknown; it takes column_name, not_after, strict"),
    ("intervals_do_not_overlap", {"end": "b"}, "start", "is missing"),
    ("intervals_do_not_overlap", {"start": "a"}, "end", "is missing"),
    ("intervals_do_not_overlap", {**INTERVALS, "start": ["a"]}, "start", "must be the name of a column, but is ['a']"),
    ("intervals_do_not_overlap", {**INTERVALS, "end": 5}, "end", "must be the name of a column, but is 5"),
    ("intervals_do_not_overlap", {**INTERVALS, "partition_by": "k"}, "partition_by", "must be a list, but is 'k'"),
    ("intervals_do_not_overlap", {**INTERVALS, "partition_by": [1]}, "partition_by", "must be the name of a column"),
    ("intervals_do_not_overlap", {**INTERVALS, "bounds": "["}, "bounds", "must be one of [], [), (], (), but is '['"),
    ("intervals_do_not_overlap", {**INTERVALS, "key": "k"}, "key", "is unknown; it takes start, end, partition_by"),
    ("skew_below", {"column_name": "a"}, "max_share", "is missing"),
    ("skew_below", {**SKEW, "column_name": ["a"]}, "column_name", "must be the name of a column, but is ['a']"),
    ("skew_below", {"max_share": 0.5}, "partition_by", "must be given, or the test belong to a column"),
    ("skew_below", {**SKEW, "partition_by": ["b"]}, "partition_by", "must be given, or the test belong to a column"),
    ("skew_below", {"partition_by": [], "max_share": 0.5}, "partition_by", "is empty; name the columns of the key"),
    ("skew_below", {**SKEW, "max_share": 20}, "max_share", "must be a number between 0 and 1, but is 20"),
    ("skew_below", {**SKEW, "max_share": True}, "max_share", "must be a number between 0 and 1, but is True"),
    ("skew_below", {**SKEW, "max_share": "0.2"}, "max_share", "must be a number between 0 and 1, but is '0.2'"),
    ("skew_below", {**SKEW, "min_rows": -1}, "min_rows", "must be an integer from 0, but is -1"),
    (
        "skew_below",
        {**SKEW, "ratio": 2},
        "ratio",
        "is unknown; it takes max_share, column_name, partition_by, min_rows",
    ),
]


@pytest.mark.parametrize(("test", "arguments", "argument", "problem"), WRONG)
def test_error_names_test_and_argument(
    dbt: Dbt, test: str, arguments: dict[str, Any], argument: str, problem: str
) -> None:
    with pytest.raises(MacroError, match=re.escape(f"joinery.{test}: argument `{argument}` {problem}")):
        dbt.render(f"test_{test}", model=table("tested"), **arguments)


def data_test(name: str, **arguments: Any) -> dict[str, Any]:
    """A generic test of the package, as an entry of `data_tests`."""
    return {f"joinery.{name}": {"arguments": arguments}}


def test_in_the_properties_of_a_model(spark: SparkSession, dbt: Dbt, tmp_path: Path) -> None:
    write_project(
        tmp_path,
        facts="select id, id as `seen at`, if(id < 9, 'x', 'y') as k, id + 1 as ends from range(10)",
        doubled="select * from {{ ref('facts') }} union all select * from {{ ref('facts') }}",
    )
    column = {"name": "seen at", "quote": True, "data_tests": [data_test("no_future_rows", not_after="id")]}
    skewed = {"joinery.skew_below": {"arguments": {"max_share": 0.8}, "config": {"severity": "warn"}}}
    key = {"name": "k", "data_tests": [skewed]}
    late = {
        "joinery.intervals_do_not_overlap": {"arguments": {"start": "id", "end": "ends"}, "config": {"where": "id > 3"}}
    }
    models = [
        {"name": "facts", "columns": [column, key], "data_tests": [late]},
        {"name": "doubled", "data_tests": [data_test("row_count_preserved", compare_model="ref('facts')"), late]},
    ]
    (tmp_path / "models" / "models.yml").write_text(yaml.safe_dump({"models": models}))
    project = Dbt(tmp_path)
    assert project.invoke("deps").success, project.log
    # a failing test of `facts` would skip the tests of `doubled`, which reads it
    built = project.invoke("build", "--select", "facts+")
    tests = [result for result in built.result.results if result.node.resource_type == "test"]
    outcomes = {
        (test.node.test_metadata.name, test.node.attached_node.split(".")[-1]): (str(test.status), test.failures)
        for test in tests
    }
    assert outcomes == {
        ("no_future_rows", "facts"): ("pass", 0),
        ("skew_below", "facts"): ("warn", 1),
        ("intervals_do_not_overlap", "facts"): ("pass", 0),
        ("row_count_preserved", "doubled"): ("fail", 1),
        ("intervals_do_not_overlap", "doubled"): ("fail", 6),
    }
