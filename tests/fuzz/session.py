"""The application of a round, and its session."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from spark_joinery import configure_spark

from fuzz.functions import flaky, is_int
from fuzz.settings import Settings

SETTINGS: Settings = {
    "spark.broadcast.checksum": "false",
    "spark.broadcast.compress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.log.level": "OFF",
    "spark.shuffle.sort.bypassMergeThreshold": "5",  # so that more than 5 partitions are sorted by task
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.join.asofJoin.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.ui.explainMode": "simple",  # for each plan's text on UI pages, which is not used
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.unsafe.sorter.spill.read.ahead.enabled": "false",  # or reading many spills takes all memory
}


@contextmanager
def application(order: Mapping[str, Any], folder: str) -> Iterator[SparkSession]:
    """An application with the jar.

    Args:
        order: "static" has settings of the application, "jar" names another jar than the one just built.
        folder: The folder for all files of the application.
    """
    spark = start(order["static"], order.get("jar"), folder)
    try:
        yield spark
    finally:
        spark.stop()
        # the JVM has these settings as system properties, and the next application would take them over
        properties = SparkContext._jvm.java.lang.System
        for key in order["static"]:
            properties.clearProperty(key)


def start(static: Settings, jar: str | None, folder: str) -> SparkSession:
    """Start an application, in the JVM of the previous one if there was any."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    confs = {
        **SETTINGS,
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.local.dir": f"{folder}/local",
        **static,
    }
    builder = SparkSession.builder.appName("joinery-fuzz").config(map=confs)
    if jar:
        builder = builder.config("spark.jars", jar).config(
            "spark.sql.extensions", "io.github.sparkjoinery.JoineryExtensions"
        )
    else:
        builder = configure_spark(builder)
    spark = builder.getOrCreate()
    spark.udf.register("flaky", F.udf(flaky, "boolean").asNondeterministic())
    spark.udf.register("is_int", F.udf(is_int, "boolean"))
    return spark
