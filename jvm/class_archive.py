"""Archive the classes that a session loads: `class_archive.py ARCHIVE`.

The JVM of a short test spends a third of its time on reading and verifying the classes of Spark, Hadoop and Hive. A JVM
with `-XX:SharedArchiveFile=ARCHIVE` maps them into its memory instead. If the archive does not fit a JVM, for example
because of other jars, the JVM loads its classes as usual.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# Statements that load the classes that most tests need: Hive's metastore, Parquet, joins, windows, aggregates.
STATEMENTS = [
    "CREATE SCHEMA trained",
    """CREATE TABLE trained.facts USING parquet AS
       SELECT id % 10 AS k, id, CAST(id AS STRING) AS name, timestamp_seconds(id) AS at FROM range(1000)""",
    "CREATE VIEW trained.latest AS SELECT k, max(at) AS at FROM trained.facts GROUP BY k",
    """SELECT f.k, sum(f.id) OVER (PARTITION BY f.k ORDER BY f.at) AS total, latest.at
       FROM trained.facts AS f LEFT JOIN trained.latest ON f.k = latest.k
       JOIN (SELECT DISTINCT k FROM trained.facts) AS keys ON f.k > keys.k""",
    "EXPLAIN EXTENDED SELECT * FROM trained.facts WHERE id > 3 ORDER BY name",
    "SHOW TABLES IN trained",
    "DESCRIBE TABLE EXTENDED trained.facts",
    "DROP SCHEMA trained CASCADE",
]


def main(archive: Path) -> None:
    """Run the statements in a JVM that writes the archive when it ends."""
    partial = archive.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    # Off: thousands of lines on classes that cannot be archived, such as those from signed jars
    options = f"-XX:ArchiveClassesAtExit={partial} -Xlog:cds*=off"
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-java-options '{options}' pyspark-shell"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # for the metastore
        builder = SparkSession.builder.config(map=SETTINGS).config("spark.sql.warehouse.dir", f"{folder}/warehouse")
        spark = builder.enableHiveSupport().getOrCreate()
        for statement in STATEMENTS:
            spark.sql(statement).collect()
        gateway = spark.sparkContext._gateway
        assert gateway is not None
        spark.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()  # the JVM then ends, and writes the archive
        gateway.proc.wait()
        os.chdir("/")
    partial.replace(archive)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
