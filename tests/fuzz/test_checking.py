"""If only one of Joinery and stock Spark fails, stock Spark is asked again, and each of its outcomes is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from fuzz.capability import Case
from fuzz.cases.built_filters import BuiltFilters
from fuzz.cases.range_join import RangeJoin
from fuzz.checking import Verdict, check, error_class, right_answer, stock_answer, telling
from fuzz.data import column
from fuzz.running import Answer, memory_manager, plain

ANSI = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}
OVERFLOW = "SELECT CAST(2147483647 AS INT) + CAST(id AS INT) AS x FROM range(2)"
NO_OVERFLOW = "SELECT CAST(2147483647 + id AS INT) AS x FROM range(1)"
# These queries fail in their second and third partition. Stock is asked first with two partitions.
FAILS_IN_SECOND = (
    "SELECT id DIV (1 - spark_partition_id()) AS x FROM (SELECT /*+ REPARTITION(id) */ id FROM range(100))"
)
FAILS_IN_THIRD = FAILS_IN_SECOND.replace("1 -", "2 -")


class Told(BuiltFilters):
    """A capability with given queries for stock Spark, for Joinery, and for stock Spark with hints."""

    def __init__(self, stock: str, joinery: str, hinted: str | None = None) -> None:
        self.stock, self.joinery, self.hinted = stock, joinery, hinted

    def hinted_sql(self, case: Case) -> str | None:
        return self.hinted

    def oracle_sql(self, case: Case) -> str:
        return self.stock

    def sql(self, case: Case) -> str:
        return self.joinery


def told(spark: SparkSession, stock: str, joinery: str, settings: dict[str, str], hinted: str | None = None) -> Verdict:
    case: Case = {"tables": {}, "session": ANSI, "query": {}, "variant": {"settings": settings}}
    capability = Told(stock, joinery, hinted)
    return check(spark, capability, case, right_answer(spark, capability, case))


def partitions(number: int) -> dict[str, str]:
    return {"spark.sql.shuffle.partitions": str(number), "spark.sql.adaptive.enabled": "false"}


def table(rows: int, least: str) -> dict[str, Any]:
    columns = {"id": column("int", "sequence"), "k": column("int", "one"), "v": column("int", "few")}
    ends = {f"{prefix}_small": column("smallint", least) for prefix in "xse"}
    return {"seed": 1, "rows": rows, "files": 1, "columns": {**columns, "s": column("string", "few"), **ends}}


def test_an_error_that_stock_meets_on_another_way_is_no_difference(spark: SparkSession, tmp_path: Path) -> None:
    # abs(-32768) overflows in a filter of l that Spark infers, unless r is known to be empty by then
    query = {
        "join": "JOIN",
        "keys": ["l.k <=> r.k"],
        "conditions": ["(abs(l.x_small) BETWEEN r.s_small + 1 AND r.e_small)"],
    }
    shuffled = {"spark.sql.adaptive.enabled": "false", "spark.sql.autoBroadcastJoinThreshold": "-1"}
    case: Case = {
        "tables": {"l": table(100, "ends"), "r": table(0, "ends")},
        "session": ANSI,
        "query": query,
        "variant": {"settings": shuffled},
    }
    capability = RangeJoin()
    capability.prepare(spark, tmp_path, case)
    right = right_answer(spark, capability, case)
    assert right.kind == "rows"
    verdict = check(spark, capability, case, right)
    assert verdict.found.kind == "data"
    assert (verdict.difference, verdict.compared, verdict.settled) == (None, True, True)


def test_an_error_that_stock_never_raises_is_a_difference(spark: SparkSession) -> None:
    verdict = told(spark, NO_OVERFLOW, OVERFLOW, {})
    assert verdict.difference is not None
    assert verdict.difference.startswith("data error where stock has rows")
    assert not verdict.settled


def test_another_error_than_stock_raises_sometimes_is_a_difference(spark: SparkSession) -> None:
    verdict = told(spark, FAILS_IN_THIRD, FAILS_IN_THIRD, partitions(3))
    assert verdict.settled
    verdict = told(spark, FAILS_IN_THIRD, OVERFLOW, partitions(3))
    assert (verdict.difference or "").startswith("data error where stock has rows: [ARITHMETIC_OVERFLOW]")


def test_an_answer_where_stock_always_raises_is_no_difference(spark: SparkSession) -> None:
    verdict = told(spark, OVERFLOW, NO_OVERFLOW, {})
    assert (verdict.found.kind, verdict.difference, verdict.compared) == ("rows", None, False)


def test_where_stock_raises_only_sometimes_rows_are_compared(spark: SparkSession) -> None:
    verdict = told(spark, FAILS_IN_SECOND, "SELECT id AS x FROM range(100)", partitions(1))
    assert (verdict.difference, verdict.compared, verdict.settled) == (None, True, True)
    verdict = told(spark, FAILS_IN_SECOND, "SELECT id AS x FROM range(99)", partitions(1))
    assert "99 rows instead of 100" in (verdict.difference or "")


def test_a_semi_join_by_a_hint_looks_at_rows_behind_its_match(spark: SparkSession) -> None:
    # The first row of r matches. The second, for which a condition fails, is only looked at if l is broadcast. Both
    # run in Spark's nested loop, as the condition is no range. Joinery's range join would not count that error.
    semi = (
        "SELECT {}l.id FROM VALUES (1, 65, 2) l(id, s, e) LEFT SEMI JOIN "
        "VALUES (0, 72), (int(-2147483648), 99) r(s, e) ON l.s <> r.e AND l.e <> -r.s"
    )
    hinted = semi.format("/*+ BROADCAST(l) */ ")
    verdict = told(spark, semi.format(""), hinted, {}, hinted)
    assert (verdict.found.kind, verdict.difference, verdict.settled) == ("data", None, True)
    assert told(spark, semi.format(""), hinted, {}).difference is not None


def test_stock_is_asked_anew_with_what_the_query_needs(spark: SparkSession) -> None:
    needed = "SELECT l.id FROM range(2) l LAST JOIN range(1) r ON l.id = r.id"
    case: Case = {"tables": {}, "session": ANSI, "query": {}, "variant": {"settings": {}}}
    assert stock_answer(spark, Told(needed, needed), case).kind == "rows"


def test_errors_of_a_class_are_the_same() -> None:
    first = Answer(error="[ARITHMETIC_OVERFLOW] integer overflow. SQLSTATE: 22003")
    assert error_class(first) == error_class(Answer(error="x: [ARITHMETIC_OVERFLOW] overflow."))
    assert error_class(first) != error_class(Answer(error="[DIVIDE_BY_ZERO] Division by zero."))
    assert error_class(Answer(error="[INTERNAL_ERROR] this")) != error_class(Answer(error="[INTERNAL_ERROR] that"))


def test_errors_without_a_class_are_the_same_by_their_cause() -> None:
    text = "Py4JJavaError: An error occurred while calling o{}.getResult.\nCaused by: x: long overflow\n\tat y"
    assert error_class(Answer(error=text.format(1))) == error_class(Answer(error=text.format(2)))
    assert error_class(Answer(error=text.format(1))) != error_class(Answer(error=text.format(2).replace("long", "int")))


def test_dates_that_python_has_not_are_compared_as_numbers() -> None:
    late = pa.array([1683695410, None], pa.int32()).cast(pa.date32())
    assert plain(pa.chunked_array([late])) == [1683695410, None]
    lists = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), late)
    assert plain(pa.chunked_array([lists])) == [[1683695410, None]]
    structs = pa.StructArray.from_arrays([lists], names=["x"])
    assert plain(pa.chunked_array([structs])) == [{"x": [1683695410, None]}]


def test_memory_that_is_held_when_a_query_has_ended_is_a_difference(spark: SparkSession) -> None:
    case: Case = {"tables": {}, "session": ANSI, "query": {}, "variant": {}}
    capability = Told("SELECT 1 AS x", "SELECT 1 AS x")
    right = right_answer(spark, capability, case)
    manager, on_heap = memory_manager(spark), memory_mode(spark, "ON_HEAP")
    manager.acquireExecutionMemory(100, -1, on_heap)
    try:
        assert check(spark, capability, case, right).difference == "100 bytes of execution memory are held by no query"
    finally:
        manager.releaseExecutionMemory(100, -1, on_heap)
    assert check(spark, capability, case, right).difference is None


def test_where_stock_cannot_shuffle_a_lack_of_memory_is_no_difference(spark: SparkSession) -> None:
    no_memory = "raise_error('Unable to acquire 64 bytes of memory, got 0')"
    capability = Told("SELECT 1 AS x", f"SELECT {no_memory} AS x")
    case: Case = {"tables": {"shuffled": {}}, "session": ANSI, "query": {}, "variant": {}}
    for shown, is_different in (("id", True), (f"id + {no_memory} AS id", False)):
        spark.sql(f"SELECT {shown} FROM range(3)").createOrReplaceTempView("shuffled")
        verdict = check(spark, capability, case, right_answer(spark, capability, case))
        assert ("afterwards execution has 0 of " in (verdict.difference or "")) == is_different
        assert (verdict.difference is not None) == is_different


def memory_mode(spark: SparkSession, name: str) -> Any:
    """Spark's constant of this name."""
    assert spark._jvm is not None
    return spark._jvm.org.apache.spark.memory.MemoryMode.valueOf(name)


def test_a_difference_tells_where_an_error_began() -> None:
    text = (
        "Py4JJavaError: o1\n: A: x\n\tat the.Driver\nCaused by: B: y\n\tat its.Scheduler\nCaused by: C: z\n\tat a.Task"
    )
    assert telling(Answer(error=text)) == "Py4JJavaError: o1\nCaused by: C: z\n\tat a.Task"
    assert telling(Answer(error="[PARSE_ERROR] x\ny")) == "[PARSE_ERROR] x\ny"
