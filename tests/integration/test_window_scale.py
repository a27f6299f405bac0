"""A window over one key of 50 million rows, more than a task can hold in memory, in a driver of 8 GB."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support.documentation import ROOT

ROWS = 50_000_000
PROGRAM = f"""
import spark_joinery
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "8g")
spark = spark_joinery.configure_spark(builder).getOrCreate()
# the numbers are shuffled, so that the order by which they come is not the order of the window
answer = spark.sql('''
    SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1000 PRECEDING AND CURRENT ROW) AS s,
           max(id) OVER (ORDER BY id ROWS BETWEEN 1000 PRECEDING AND CURRENT ROW) AS m
    FROM (SELECT id * 48271 % {ROWS} AS id FROM range({ROWS}))''')
assert "SlidingWindow" in answer._jdf.queryExecution().executedPlan().toString()
counted = answer.selectExpr(
    "count(*)", "count_if(m <> id)",
    "count_if(s <> if(id < 1000, id * (id + 1) div 2, 1001 * id - 500500))").collect()[0]
assert tuple(counted) == ({ROWS}, 0, 0), counted
"""


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_one_key_of_50_million_rows_in_8_gb() -> None:
    # 48271 and the number of rows have no common divisor, so each number comes once
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "airflow_provider")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
