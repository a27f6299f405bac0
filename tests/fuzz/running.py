"""Runs a statement under settings; returns its rows or its error, its time, and the operators that took part."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame

from fuzz.forms import forms_of
from fuzz.settings import NOT_SET

# Errors about the data. Joinery must not raise them if stock Spark returns rows.
ABOUT_DATA = (
    "ARITHMETIC_OVERFLOW",
    "OVERFLOW",
    "OUT_OF_RANGE",
    "DIVIDE_BY_ZERO",
    "CAST_INVALID_INPUT",
    "CAST_OVERFLOW",
    "DATETIME_FIELD_OUT_OF_BOUNDS",
    "long overflow",
    "integer overflow",
)
# Seconds that tasks may take to end after their query has ended, because it was cancelled or had enough rows.
ENDS_WITHIN = 5.0
MEMORY = ("OutOfMemory", "UNABLE_TO_ACQUIRE_MEMORY", "Unable to acquire", "not enough memory", "Can't acquire")


class ApplicationDied(Exception):
    """The JVM ended with an error that no query survives."""


@dataclass
class Answer:
    """The outcome of a statement.

    Attributes:
        rows: The rows by column; None if it failed.
        error: The text of the error.
        seconds: The time that it took.
        forms: The operators of Joinery that took part, and their forms.
        plan: The final physical plan.
        held: Bytes of memory that tasks still hold after the statement has ended.
    """

    rows: pa.Table | None = None
    error: str | None = None
    seconds: float = 0.0
    forms: list[str] = field(default_factory=list)
    plan: str = ""
    held: int = 0

    @property
    def kind(self) -> str:
        """ "rows", or the kind of error: "data", "memory", "time", "other"."""
        if self.error is None:
            return "rows"
        if "cancelled" in self.error or "canceled" in self.error:
            return "time"
        if any(text in self.error for text in MEMORY):
            return "memory"
        return "data" if any(text in self.error for text in ABOUT_DATA) else "other"


@contextlib.contextmanager
def settings(spark: SparkSession, confs: Mapping[str, str]) -> Iterator[None]:
    """Set confs of a session within a block. `NOT_SET` leaves one to Spark's default."""
    before = {key: spark.conf.get(key, None) for key in confs}
    try:
        for key, value in confs.items():
            if value == NOT_SET:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def run(
    spark: SparkSession,
    sql: str,
    confs: Mapping[str, str],
    limit: float = 60.0,
    later: Mapping[str, str] | None = None,
) -> Answer:
    """Run a statement to its end.

    Args:
        spark: A classic session.
        sql: One statement.
        confs: Settings for the statement.
        limit: Seconds after which it is cancelled.
        later: Settings after it is analyzed, as for a DataFrame that was made under other settings.

    Raises:
        ApplicationDied: If the application died.
    """
    answer = Answer()
    context = spark.sparkContext
    group = f"fuzz-{time.monotonic_ns()}"
    context.setJobGroup(group, sql[:80], interruptOnCancel=True)
    timer = threading.Timer(limit, context.cancelJobGroup, [group])
    timer.start()
    started = time.monotonic()
    with settings(spark, confs):
        try:
            frame = DataFrame(spark._jsparkSession.sql(sql), spark)  # spark.sql takes longer, as it handles arguments
            with settings(spark, later or {}):
                answer.rows = frame.toArrow()
                answer.forms, answer.plan = forms_of(frame)
        except PySparkException as error:
            answer.error = str(error)
        except Exception as error:  # py4j passes on any error of the JVM
            answer.error = f"{type(error).__name__}: {error}"
        finally:
            timer.cancel()
    if answer.error and "SparkContext was shut down" in answer.error:
        raise ApplicationDied(answer.error)
    answer.seconds = time.monotonic() - started
    answer.held = held_memory(spark)
    return answer


def held_memory(spark: SparkSession) -> int:
    """Bytes of execution memory that are held although no query runs. Executors outside this JVM are not counted."""
    manager = memory_manager(spark)
    deadline = time.monotonic() + ENDS_WITHIN
    while (held := int(manager.executionMemoryUsed())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return held


def memory_state(spark: SparkSession) -> str:
    """Text that says how much memory execution and storage use in this JVM."""
    manager = memory_manager(spark)
    pools = (manager.onHeapExecutionMemoryPool(), manager.onHeapStorageMemoryPool())
    execution, storage = (f"{pool.memoryUsed()} of {pool.poolSize()} bytes" for pool in pools)
    return f"afterwards execution has {execution}, storage {storage}"


def memory_manager(spark: SparkSession) -> Any:
    """The manager that gives memory to tasks.

    It is read from fields, because py4j looks at all methods of a class that it calls, and a method of `SparkEnv` names
    a class outside of pyspark's jars.
    """
    context = spark.sparkContext._jsc.sc()
    return private_field("org.apache.spark.SparkEnv", "_memoryManager").get(
        private_field("org.apache.spark.SparkContext", "_env").get(context)
    )


def private_field(of: str, name: str) -> Any:
    """A private field of a Spark class, by Java's reflection."""
    jvm: Any = SparkContext._jvm
    found = jvm.java.lang.Class.forName(of).getDeclaredField(name)
    found.setAccessible(True)
    return found


def row_texts(rows: pa.Table) -> list[tuple[str, ...]]:
    """The rows of a table as text: NULL equals NULL and NaN equals NaN, but 0.0 is not -0.0."""
    columns = [[repr(value) for value in plain(rows.column(i))] for i in range(rows.num_columns)]
    return list(zip(*columns, strict=True)) if columns else [()] * rows.num_rows


def plain(values: pa.ChunkedArray) -> list[Any]:
    """Values in Python. Dates and times are numbers, because Python has no year beyond 9999."""
    return values.cast(without_times(values.type)).to_pylist()


def without_times(kind: pa.DataType) -> pa.DataType:
    """A type with numbers in place of dates and times, also in lists and structures."""
    if pa.types.is_date32(kind):
        return pa.int32()
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(without_times(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(without_times(field.type)) for field in kind.fields])
    return kind


def other_rows(right: Answer, found: Answer) -> str | None:
    """How the rows of two answers differ, without regard to their order; None if they do not."""
    assert right.rows is not None
    assert found.rows is not None
    wanted, got = Counter(row_texts(right.rows)), Counter(row_texts(found.rows))
    if wanted == got:
        return None
    missing, more = wanted - got, got - wanted
    return (
        f"{found.rows.num_rows} rows instead of {right.rows.num_rows}; missing, such as "
        f"{list(missing)[:2]}, unexpected, such as {list(more)[:2]}"
    )
