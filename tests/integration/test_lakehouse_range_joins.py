"""Statements change an Iceberg table by a range join too large for an index, which is cut into parts at quantiles.

Runs as `test_lakehouse.py` does: on Spark 4.1, in a process of its own or with `test_lakehouse_artifacts.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.lakehouse

MODES = ["copy-on-write", "merge-on-read"]
FOUND = "EXISTS (SELECT 1 FROM ice.lake.ranges r WHERE {t}.t BETWEEN r.begins AND r.ends)"
STATEMENTS = {
    "merge": "MERGE INTO {t} t USING ice.lake.ranges s ON t.t BETWEEN s.begins AND s.ends WHEN MATCHED THEN DELETE",
    "update": f"UPDATE {{t}} SET v = 9 WHERE {FOUND}",
    "delete": f"DELETE FROM {{t}} WHERE NOT {FOUND}",
}


@pytest.fixture(scope="module", autouse=True)
def ranges(lake: SparkSession) -> Iterator[None]:
    lake.sql(
        "CREATE TABLE ice.lake.ranges USING iceberg AS SELECT id * 13 AS begins, id * 13 + 6 AS ends FROM range(70)"
    )
    yield
    lake.sql("DROP TABLE ice.lake.ranges")


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("mode", MODES)
def test_a_table_is_changed_as_by_stock_spark(lake: SparkSession, mode: str, statement: str) -> None:
    answers = []
    for enabled in ("false", "true"):
        lake.conf.set("spark.joinery.rangeJoin.enabled", enabled)
        lake.conf.set("spark.joinery.rangeJoin.maxBroadcast", "1")
        modes = ", ".join(f"'write.{name}.mode' = '{mode}'" for name in STATEMENTS)
        lake.sql(f"CREATE TABLE ice.lake.changed (id BIGINT, t BIGINT, v BIGINT) USING iceberg TBLPROPERTIES ({modes})")
        try:
            lake.sql("INSERT INTO ice.lake.changed SELECT id, id * 7919 % 1000, 0 FROM range(300)")
            lake.sql(STATEMENTS[statement].format(t="ice.lake.changed"))
            answers.append(sorted(lake.table("ice.lake.changed").collect()))
        finally:
            lake.sql("DROP TABLE ice.lake.changed")
            lake.conf.unset("spark.joinery.rangeJoin.enabled")
            lake.conf.unset("spark.joinery.rangeJoin.maxBroadcast")
    assert answers[0] == answers[1]
    assert 0 < sum(row.v == 0 for row in answers[0]) < 300
