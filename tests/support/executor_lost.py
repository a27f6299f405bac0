"""Program that kills an executor while a query waits for the keys of a filter, and prints the outcome as JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from pyspark.sql import SparkSession
from spark_joinery import configure_spark

CLUSTER = "local-cluster[2,1,1024]"
# The condition takes a while, and leaves a fiftieth of the keys.
SMALL = "(SELECT * FROM small WHERE length(sha2(repeat(string(c), 3000), 512)) = 128 AND c % 50 = 7)"
QUERY = f"SELECT count(*), sum(f.id) FROM fact f JOIN {SMALL} s ON f.k = s.k"
TABLES = {
    "small": "id AS k, id * 3 AS c FROM range(0, 60000, 1, 4)",
    "fact": "id, id % 90000 AS k FROM range(400000)",
}
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
    "spark.log.level": "OFF",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
}
PATIENCE = 60  # seconds


def executors(application: str) -> list[int]:
    """Process ids of an application's executors."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes().split(b"\0")
        except OSError:  # the process has just ended
            continue
        if application.encode() in words and any(word.endswith(b"CoarseGrainedExecutorBackend") for word in words):
            found.append(int(process.parent.name))
    return found


def kill_while_waiting(spark: SparkSession, killed: list[int]) -> None:
    """Kill one executor as soon as a job runs, which is the one that shuffles the keys."""
    deadline = time.monotonic() + PATIENCE
    while not spark.sparkContext.statusTracker().getActiveJobsIds():
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)
    time.sleep(0.2)  # the job's tasks have begun
    killed.append(executors(spark.sparkContext.applicationId)[0])
    os.kill(killed[0], signal.SIGKILL)


def main(folder: str) -> None:
    """Run the query without a filter, and with a filter that loses an executor while it collects keys.

    Args:
        folder: The folder for the tables.
    """
    builder = SparkSession.builder.master(CLUSTER).config(map=dict(SETTINGS))
    spark = configure_spark(builder).getOrCreate()
    for name, rows in TABLES.items():
        spark.sql(f"SELECT {rows}").write.parquet(f"{folder}/{name}")
        spark.read.parquet(f"{folder}/{name}").createOrReplaceTempView(name)
    spark.conf.set("spark.joinery.runtimeFilter.enabled", "false")
    expected = spark.sql(QUERY).collect()
    spark.conf.set("spark.joinery.runtimeFilter.enabled", "true")
    killed: list[int] = []
    killer = threading.Thread(target=kill_while_waiting, args=(spark, killed))
    killer.start()
    query = spark.sql(QUERY)
    found = query.collect()
    killer.join()
    result = {
        "killed": len(killed),
        "equal": found == expected,
        "rows": found[0][0],
        "plan": str(query._jdf.queryExecution().executedPlan().toString()),
        "active_jobs": len(spark.sparkContext.statusTracker().getActiveJobsIds()),
    }
    print(json.dumps(result))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
