"""The jars of other extensions of Spark, and sessions with them."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession
from spark_joinery import configure_spark

ROOT = Path(__file__).parents[2]
LAKE_ARTIFACTS = (
    "io.delta:delta-spark_4.1_2.13:4.4.0",
    "io.delta:delta-storage:4.4.0",
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
)
OTHER_ARTIFACTS = (
    "org.apache.sedona:sedona-spark-shaded-3.5_2.12:1.8.0",
    "org.datasyslab:geotools-wrapper:1.8.0-33.1",
    "org.apache.datafusion:comet-spark-spark3.5_2.12:0.12.0",
)


def fetched(artifacts: tuple[str, ...]) -> list[Path]:
    """Fetch jars from Maven Central, once: they are kept in `target`."""
    folder = ROOT / "target/lakehouse"
    folder.mkdir(parents=True, exist_ok=True)
    jars = []
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # `make test-lines` runs two processes of these tests
        for artifact in artifacts:
            _, name, version = artifact.split(":")
            jar = folder / f"{name}-{version}.jar"
            if not jar.exists():
                maven = ["mvn", "--batch-mode", "--quiet", "dependency:copy", f"-Dartifact={artifact}"]
                subprocess.run([*maven, f"-DoutputDirectory={folder}"], check=True, cwd=ROOT)
            jars.append(jar)
    return jars


@pytest.fixture(scope="session")
def lake_jars() -> list[Path]:
    """Delta Lake and Iceberg for Spark 4.1, the newest Spark of ours that both publish a jar for."""
    return fetched(LAKE_ARTIFACTS)


@pytest.fixture(scope="session")
def other_jars() -> list[Path]:
    """Sedona and Comet for Spark 3.5."""
    return fetched(OTHER_ARTIFACTS)


@pytest.fixture(scope="session")
def lake_settings(lake_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[], dict[str, str]]:
    """A function that makes settings with an empty Delta catalog `spark_catalog` and an empty Iceberg catalog `ice`."""
    os.environ["PYSPARK_PYTHON"] = sys.executable

    def settings() -> dict[str, str]:
        folder = tmp_path_factory.mktemp("lake")
        return {
            "spark.jars": ",".join(map(str, lake_jars)),
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hadoop",
            "spark.sql.catalog.ice.warehouse": str(folder / "iceberg"),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.driver.memory": "1g",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": "2",
            "spark.databricks.delta.snapshotPartitions": "2",  # partitions of a table's log; 50 by default
            "spark.log.level": "ERROR",
            "spark.ui.enabled": "false",
        }

    return settings


@pytest.fixture(scope="session")
def lake(lake_settings: Callable[[], dict[str, str]]) -> Iterator[SparkSession]:
    """A session with Delta Lake and Iceberg that broadcasts nothing, and where no side is too small for a filter."""
    assert SparkContext._active_spark_context is None, "another session runs: these tests need a process of their own"
    settings = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
        "spark.joinery.store.timeout": "60s",
    }
    builder = SparkSession.builder.master("local[2]").config(map=lake_settings() | settings)
    spark = configure_spark(builder).getOrCreate()
    for schema in ("spark_catalog.lake", "ice.lake"):
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    yield spark
    spark.stop()
