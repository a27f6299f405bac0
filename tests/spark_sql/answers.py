"""Run Spark's own SQL tests in one kind of session, and write down every answer.

    python -m spark_sql.answers stock|jar|eager FOLDER ANSWERS [PATTERN] [all]

FOLDER is the unpacked jar of Spark SQL's tests, and ANSWERS a file: a list of `Answer`s as JSON. With PATTERN only
files with such a name run, and with "all" under all combinations of their settings, not the first alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from spark_sql.inputs import inputs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OPERATORS = re.compile(r"\b(BroadcastRangeJoin|ShuffledRangeJoin|SlidingWindow|joinery_might_contain|\w+LastJoin)\b")
ERROR_CLASS = re.compile(r"\[([A-Z0-9_.]+)\]")
# Matches an analyzed plan whose rows have an order. A colon begins a line of a subquery, whose order does not count.
SORTED = re.compile(
    r"\A(?:[\s+-]*(?:Project|Filter|GlobalLimit|LocalLimit|Offset|SubqueryAlias)\b.*\n)*[\s+-]*Sort .*, true\b"
)

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.log.level": "OFF",
    "spark.master": "local[1]",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.session.timeZone": "America/Los_Angeles",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC "
    "-Duser.timezone=America/Los_Angeles",
}
# All joins are shuffled, the smallest tables give filters, and every partition counts as skewed.
EAGER = {
    "spark.joinery.rangeJoin.maxBroadcast": "1",
    "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "0.1",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
NUMBERS = ["unique1", "unique2", "two", "four", "ten", "twenty", "hundred", "thousand", "twothousand", "fivethous"]
NUMBERS += ["tenthous", "odd", "even"]
ONEK = ", ".join(
    [f"{name} INT" for name in NUMBERS] + [f"{name} STRING" for name in ("stringu1", "stringu2", "string4")]
)
# Tables of Spark's tests, by schema and file, and views.
TABLES = {"aggtest": ("a INT, b FLOAT", "agg"), "onek": (ONEK, "onek"), "tenk1": (ONEK, "tenk")}
VIEWS = {
    "testdata": "SELECT CAST(id AS INT) AS key, CAST(id AS STRING) AS value FROM range(1, 101)",
    "arraydata": "SELECT * FROM VALUES (array(1, 2, 3), array(array(1, 2, 3))) AS t(arraycol, nestedarraycol)",
    "mapdata": "SELECT map(1, 'a1', 2, 'b1') AS mapcol",
}


@dataclass(frozen=True)
class Answer:
    """The rows or the error of a statement.

    Attributes:
        file: The file of Spark's tests.
        settings: The settings that the file ran with.
        sql: The statement.
        rows: Rows as text, in the statement's order if it has one, else sorted; None for an error.
        is_sorted: True if the statement has an order.
        error: The class of the error.
        operators: Joinery's operators in the plan that ran.
    """

    file: str
    settings: dict[str, str]
    sql: str
    rows: list[str] | None = None
    is_sorted: bool = False
    error: str | None = None
    operators: tuple[str, ...] = ()


def session(kind: str, folder: str) -> SparkSession:
    """Start a session without the jar ("stock"), or with it."""
    from pyspark.sql import SparkSession
    from spark_joinery import configure_spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.config(map={**SETTINGS, "spark.sql.warehouse.dir": f"{folder}/warehouse"})
    return (builder if kind == "stock" else configure_spark(builder)).getOrCreate()


def make_tables(spark: SparkSession, data: Path) -> None:
    """Create the tables that the files of statements expect."""
    for name, (schema, file) in TABLES.items():
        spark.sql(f"CREATE TABLE {name} ({schema}) USING parquet")
        rows = spark.read.option("delimiter", "\t").schema(schema).csv(str(data / f"{file}.data"))
        rows.write.mode("overwrite").insertInto(name)


def drop_tables(spark: SparkSession) -> None:
    """Drop the tables and views that a file of statements left."""
    spark.sql("USE spark_catalog.default")
    for table in spark.catalog.listTables():
        if table.name not in TABLES:
            kind = "VIEW" if table.tableType in ("VIEW", "TEMPORARY") else "TABLE"
            with contextlib.suppress(PySparkException):  # the next file may still work
                spark.sql(f"DROP {kind} IF EXISTS `{table.name}`")


def text_of(value: Any) -> str:
    """A value as text. Doubles have nine digits, because the order of additions changes a sum."""
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(text_of, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{text_of(key)}: {text_of(other)}' for key, other in value.items()))}}}"
    return repr(value)


def rows_of(frame: DataFrame) -> tuple[list[str], bool]:
    """The rows of a query as text, and whether they have an order."""
    rows = [text_of(tuple(row)) for row in frame.collect()]
    is_sorted = bool(SORTED.match(frame._jdf.queryExecution().analyzed().toString()))
    return (rows if is_sorted else sorted(rows)), is_sorted


def error_class(error: Exception) -> str:
    """The error class of an error of Spark, or else its type or the beginning of its text."""
    found = ERROR_CLASS.search(str(error))
    return found[1] if found else type(error).__name__ if isinstance(error, PySparkException) else str(error)[:100]


def answer(spark: SparkSession, file: str, settings: dict[str, str], sql: str) -> Answer:
    """Run a statement; returns its rows or its error."""
    try:
        frame = spark.sql(sql)
        rows, is_sorted = rows_of(frame)
        plan = str(frame._jdf.queryExecution().executedPlan().toString())
    except Exception as error:  # also errors of py4j, and errors that Spark's tests provoke
        return Answer(file, settings, sql, error=error_class(error))
    return Answer(file, settings, sql, rows, is_sorted, operators=tuple(sorted(set(OPERATORS.findall(plan)))))


def main(kind: str, folder: str, answers: str, pattern: str = "", combinations: str = "") -> None:
    """Run the statements of all files, and write the answers."""
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        first = session(kind, scratch)
        make_tables(first, Path(folder) / "test-data" / "postgresql")
        for file in inputs(Path(folder) / "sql-tests" / "inputs"):
            if not re.search(pattern, file.name):
                continue
            for settings in file.settings if combinations else file.settings[:1]:
                spark = first.newSession()
                for name, query in VIEWS.items():
                    spark.sql(query).createOrReplaceTempView(name)
                for name, value in {**settings, **(EAGER if kind == "eager" else {})}.items():
                    if first.conf.isModifiable(name):
                        spark.conf.set(name, value)
                found += [answer(spark, file.name, settings, sql) for sql in file.statements]
                drop_tables(spark)
        first.stop()
    Path(answers).write_text(json.dumps([asdict(one) for one in found]))


if __name__ == "__main__":
    main(*sys.argv[1:])
