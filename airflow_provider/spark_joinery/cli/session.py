"""The Spark session of a command: quiet, small, and with the jar."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spark_joinery.jar import configure_spark
from spark_joinery.start import started

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUIET = {"spark.ui.enabled": "false", "spark.log.level": "ERROR"}


def local_confs(warehouse: Path | None) -> dict[str, str]:
    """Settings that keep all of a local Spark's state in one folder.

    Args:
        warehouse: The folder, or None for Spark's own settings.

    Returns:
        Spark settings with absolute paths: relative ones would depend on where the command is started.
    """
    if warehouse is None:
        return {}
    folder = warehouse.resolve()
    url = f"jdbc:derby:;databaseName={folder}/metastore_db;create=true"
    return {"spark.sql.warehouse.dir": str(folder), "spark.hadoop.javax.jdo.option.ConnectionURL": url}


@contextmanager
def spark_session(confs: Mapping[str, str]) -> Iterator[SparkSession]:
    """Run a session with the jar and a user's settings, and stop it afterwards.

    Args:
        confs: Spark settings; they win over the defaults below.

    Yields:
        A classic session, or a Spark Connect one if the settings or SPARK_REMOTE say so.

    Raises:
        JoineryError: There is no jar for the installed pyspark, or Spark does not start.
    """
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory(prefix="joinery-") as scratch:
        builder = SparkSession.builder.appName("joinery")
        defaults = {
            **QUIET,
            "spark.ui.showConsoleProgress": "false",
            # else every run would leave a spark-warehouse folder in its working directory
            "spark.sql.warehouse.dir": scratch,
        }
        for key, value in {**defaults, **confs}.items():
            builder.config(key, value)
        spark = started(configure_spark(builder))
        try:
            yield spark
        finally:
            spark.stop()
