"""The statements by which Spark tests its own SQL, run with Joinery's jar or without.

    python -m support.spark_sql_files on|off FOLDER ANSWERS

FOLDER is the unpacked jar of Spark SQL's tests, and ANSWERS a file: {file: [{"sql": ..., "rows": [...] or None,
"error": ..., "operators": [...]}, ...]}.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Files of queries that Joinery has to do with. Some need functions that only Spark's tests have, and plans differ.
CONCERNS = re.compile(r"\bjoin\b|over\s*\(|exists|in\s*\(\s*select|\bwindow\b", re.IGNORECASE)
LEFT_OUT = re.compile(r"/(udf|udtf|udaf|python|typeCoercion)/|explain|describe|show-|transform|timezone")
OPERATORS = re.compile(r"\b(BroadcastRangeJoin|ShuffledRangeJoin|SlidingWindow|WindowParts|joinery_might_contain)\b")
ERROR_CLASS = re.compile(r"\[([A-Z0-9_.]+)\]")

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
# Whatever Joinery may do, it does.
EAGER = {
    "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
    "spark.joinery.slidingWindow.skewSplit.atRead.enabled": "true",
    "spark.joinery.skewSplit.minPartition": "1b",
    "spark.joinery.slidingWindow.skewSplit.sample.enabled": "true",
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


def statements(file: Path, inputs: Path) -> tuple[list[str], list[list[str]]]:
    """A file's statements, and the settings under which they run, [name, value] each.

    Args:
        file: Of Spark's tests.
        inputs: The folder that files are imported from.
    """
    found, settings, lines, is_one = [], [], [], False
    for line in file.read_text().splitlines():
        if line.startswith("--SET "):
            settings += [
                re.split(r"\s*=\s*", part.strip(), maxsplit=1) for part in re.split(r",(?=\s*spark)", line[6:])
            ]
        elif line.startswith("--IMPORT "):
            found += statements(inputs / line[9:].strip(), inputs)[0]
        elif line.startswith(("--QUERY-DELIMITER-START", "--QUERY-DELIMITER-END")):
            is_one = "START" in line
        elif not line.lstrip().startswith("--"):
            lines.append(line)
        if lines and not is_one and (lines[-1].rstrip().endswith(";") or line.startswith("--QUERY-DELIMITER-END")):
            found.append("\n".join(lines))
            lines = []
    texts = [text.strip().removesuffix(";").strip() for text in [*found, "\n".join(lines)]]
    return [text for text in texts if text], settings


def files(inputs: Path) -> list[Path]:
    """Those that are run."""
    named = sorted(path for path in inputs.rglob("*.sql") if not LEFT_OUT.search(str(path)))
    return [path for path in named if CONCERNS.search(path.read_text())]


def session(jar: str, folder: str) -> SparkSession:
    """A session with Joinery's jar ("on") or without."""
    from pyspark.sql import SparkSession
    from spark_joinery import configure_spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.config(map={**SETTINGS, "spark.sql.warehouse.dir": f"{folder}/warehouse"})
    return (configure_spark(builder) if jar == "on" else builder).getOrCreate()


def make_tables(spark: SparkSession, data: Path) -> None:
    """Make the tables that files of statements take for given."""
    for name, (schema, file) in TABLES.items():
        spark.sql(f"CREATE TABLE IF NOT EXISTS {name} ({schema}) USING parquet")
        rows = spark.read.option("delimiter", "\t").schema(schema).csv(str(data / f"{file}.data"))
        rows.write.mode("overwrite").insertInto(name)
    for name, query in VIEWS.items():
        spark.sql(query).createOrReplaceTempView(name)


def drop_tables(spark: SparkSession) -> None:
    """Drop what a file of statements has left behind."""
    spark.sql("USE spark_catalog.default")
    for table in spark.catalog.listTables():
        kind = "VIEW" if table.tableType in ("VIEW", "TEMPORARY") else "TABLE"
        with contextlib.suppress(PySparkException):  # the next file may still do without it
            spark.sql(f"DROP {kind} IF EXISTS `{table.name}`")


def text_of(value: Any) -> str:
    """A value, doubles to nine digits: sums of them differ by the order of additions."""
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(text_of, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{text_of(key)}: {text_of(other)}' for key, other in value.items()))}}}"
    return repr(value)


def answer(spark: SparkSession, sql: str) -> dict[str, Any]:
    """Run a statement."""
    try:
        frame = spark.sql(sql)
        rows = sorted(text_of(tuple(row)) for row in frame.collect())
        plan = str(frame._jdf.queryExecution().executedPlan().toString())
    except Exception as error:  # of py4j, too, and of what a test of Spark's provokes
        found = ERROR_CLASS.search(str(error))
        name = type(error).__name__ if isinstance(error, PySparkException) else str(error)[:100]
        return {"sql": sql, "rows": None, "error": found[1] if found else name, "operators": []}
    return {"sql": sql, "rows": rows, "error": None, "operators": sorted(set(OPERATORS.findall(plan)))}


def main(jar: str, folder: str, answers: str) -> None:
    """Run all statements."""
    inputs, data = Path(folder) / "sql-tests" / "inputs", Path(folder) / "test-data" / "postgresql"
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        first = session(jar, scratch)
        for file in files(inputs):
            spark = first.newSession()
            make_tables(spark, data)
            texts, settings = statements(file, inputs)
            for name, value in [*settings, *(EAGER.items() if jar == "on" else [])]:
                if first.conf.isModifiable(name):
                    spark.conf.set(name, value)
            found[str(file.relative_to(inputs))] = [answer(spark, text) for text in texts]
            drop_tables(spark)
        first.stop()
    Path(answers).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
