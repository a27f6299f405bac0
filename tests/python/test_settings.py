"""Joinery's settings in a session that has not run anything yet."""

from __future__ import annotations

import json
import os
import subprocess
import sys

FIRST_STATEMENT = """
import json
from pyspark.sql import SparkSession
from spark_joinery import configure_spark

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = configure_spark(builder).getOrCreate()
try:
    spark.sql("SET spark.joinery.lastJoin.enabled=maybe")
    refused = ""
except Exception as error:
    refused = str(error)
print(json.dumps([refused, spark.conf.get("spark.joinery.lastJoin.enabled")]))
"""


def test_the_first_statement_of_a_session_may_be_a_wrong_setting() -> None:
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", FIRST_STATEMENT]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    refused, value = json.loads(done.stdout)
    assert "spark.joinery.lastJoin.enabled" in refused
    assert "maybe" in refused
    assert value == "true"
