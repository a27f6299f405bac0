"""Program that runs queries when Kryo requires registered classes, and prints a line of JSON for each query."""

from __future__ import annotations

import json

from pyspark.sql import SparkSession
from spark_joinery import configure_spark

SETTINGS = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrationRequired": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
    "spark.joinery.skewSplit.minPartition": "1",
}
SHUFFLED = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
IN_PARTS = {**SHUFFLED, "spark.joinery.rangeJoin.maxBroadcast": "1"}
VIEWS = {
    "events": "id, id % 97 AS x, if(id % 3 = 0, 1, id % 50) AS k FROM range(0, 50000, 1, 4)",
    "spans": "id, id * 3 AS lo, id * 3 + 5 AS hi, id % 5 AS c FROM range(0, 400, 1, 2)",
}
WINDOW = "sum(x) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)"
# Each entry has a name that must be in the plan, settings, and a query.
QUERIES = [
    ("NestedLoop", {}, "SELECT e.id FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi"),
    ("ShuffledRangeJoin", {}, "SELECT e.id FROM events e JOIN spans s ON e.k = s.id AND e.x BETWEEN s.lo AND s.hi + 9"),
    ("ShuffledRangeJoin", IN_PARTS, "SELECT e.id FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi"),
    ("joinery_might_contain", SHUFFLED, "SELECT e.id FROM events e JOIN spans s ON e.k = s.id WHERE s.c = 3"),
    ("SlidingWindow", {}, f"SELECT id, {WINDOW} FROM events"),
    ("SlidingWindow", {}, f"SELECT /*+ SKEW_WINDOW(4) */ id, {WINDOW} FROM events"),
    ("LastJoin", {}, "SELECT e.id, s.c FROM events e LAST JOIN spans s ORDER BY s.lo ON e.k = s.id AND s.lo <= e.x"),
    ("LastJoin", {}, "SELECT e.id, s.c FROM events e LAST JOIN spans s ORDER BY s.lo ON s.lo <= e.x"),
    (
        "LastJoin",
        SHUFFLED,
        "SELECT e.id, f.x FROM events e LAST JOIN events f ORDER BY f.x ON e.k = f.k AND f.x <= e.x",
    ),
]


if __name__ == "__main__":
    spark = configure_spark(SparkSession.builder.master("local[2]").config(map=SETTINGS)).getOrCreate()
    for name, query in VIEWS.items():
        spark.sql(f"SELECT {query}").write.saveAsTable(name)
    for operator, settings, query in QUERIES:
        for key, value in settings.items():
            spark.conf.set(key, value)
        frame = spark.sql(query)
        rows = len(frame.collect())
        plan = frame._jdf.queryExecution().executedPlan().toString()
        for key in settings:
            spark.conf.unset(key)
        print(json.dumps({"query": query, "rows": rows, "planned": operator in plan}), flush=True)
