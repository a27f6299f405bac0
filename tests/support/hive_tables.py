"""Program that joins Hive tables with and without filters, and prints a line of JSON for each join.

Usage: hive_tables.py FOLDER
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from spark_joinery import configure_spark

SMALL = ("parquet", "parquet_partitioned", "orc", "orc_partitioned", "textfile")
FACTS = ("parquet", "orc")


def session(folder: Path) -> SparkSession:
    """A session with a Hive metastore in the folder."""
    metastore = f"jdbc:derby:;databaseName={folder / 'metastore'};create=true"
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
    }
    return configure_spark(SparkSession.builder.master("local[2]").config(map=settings)).getOrCreate()


def create(spark: SparkSession) -> None:
    """Create a small table in each format, and a fact table in some formats."""
    for name in SMALL:
        file_format, _, partitioned = name.partition("_")
        by_class = "PARTITIONED BY (class INT)" if partitioned else ""
        columns = "k INT, name STRING" if partitioned else "k INT, name STRING, class INT"
        spark.sql(f"CREATE TABLE small_{name} ({columns}) {by_class} STORED AS {file_format}")
        spark.sql(f"INSERT INTO small_{name} SELECT int(id), concat('N', id), int(id % 10) FROM range(400)")
    for name in FACTS:
        spark.sql(
            f"CREATE TABLE fact_{name} STORED AS {name} AS SELECT id, int(id % 2000) AS k FROM range(0, 20000, 1, 4)"
        )


def rows(frame: DataFrame) -> list[str]:
    """The rows of an answer, sorted."""
    return sorted(map(repr, frame.collect()))


if __name__ == "__main__":
    spark = session(Path(sys.argv[1]))
    create(spark)
    for small, fact in itertools.product(SMALL, FACTS):
        query = f"SELECT f.id, s.name FROM fact_{fact} f JOIN small_{small} s ON f.k = s.k WHERE s.class = 3"
        frame = spark.sql(query)
        answer = rows(frame)
        plan = frame._jdf.queryExecution().executedPlan().toString()
        spark.conf.set("spark.joinery.runtimeFilter.enabled", "false")
        expected = rows(spark.sql(query))
        spark.conf.unset("spark.joinery.runtimeFilter.enabled")
        told = {"small": small, "fact": fact, "rows": len(answer), "equal": answer == expected}
        told["filtered"] = " 40 keys of " in plan
        print(json.dumps(told), flush=True)
