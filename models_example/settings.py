"""The directory of the example's state, and the one set of Spark settings that all its parts share.

The example writes only below ``JOINERY_DEMO_HOME`` (default ``target/demo``): Derby metastore, warehouse, artifact
store, Airflow's home, dbt's target and logs. The paths handed to Spark are absolute. A relative Derby path depends on
the directory in which a command was started, and each directory would then get a metastore of its own.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).resolve().parent
EXTENSION = "io.github.sparkjoinery.JoineryExtensions"


def demo_home() -> Path:
    """Return the absolute directory of all state, from ``JOINERY_DEMO_HOME`` or ``<repository>/target/demo``."""
    return Path(os.environ.get("JOINERY_DEMO_HOME") or EXAMPLE.parent / "target" / "demo").resolve()


def spark_confs(home: Path) -> dict[str, Any]:
    """Return the Spark settings of every process that opens the demo's tables (`profiles.yml` has the same ones).

    Args:
        home: absolute directory of all state.

    Returns:
        Spark configuration; all values are strings, as in files, but pyspark's type is wider.

    Example:
        >>> spark_confs(Path("/tmp/demo"))["spark.sql.warehouse.dir"]
        '/tmp/demo/warehouse'
    """
    return {
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={home}/metastore;create=true",
        "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={home}/derby.log",
        "spark.joinery.store": str(home / "store"),
        "spark.driver.memory": "3g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }


def environment(home: Path, jar: Path | None = None) -> dict[str, str]:
    """Return the environment variables with which dbt finds the project, its profile, the state and the jar.

    Args:
        home: absolute directory of all state.
        jar: the Joinery jar, or None for dbt targets that run without it.

    Returns:
        Variables to add to the environment of `dbt` or of a Python process that runs it.
    """
    return {
        "JOINERY_DEMO_HOME": str(home),
        "JOINERY_JAR": str(jar or ""),
        "DBT_PROJECT_DIR": str(EXAMPLE),
        "DBT_PROFILES_DIR": str(EXAMPLE),
        "DBT_TARGET_PATH": str(home / "dbt"),
        "DBT_LOG_PATH": str(home / "logs"),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        # Spark's Python workers must be this Python, not the first one on the PATH
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
