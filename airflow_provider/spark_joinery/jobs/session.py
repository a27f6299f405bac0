"""The Spark session of a job."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_joinery.cause import is_gone
from spark_joinery.errors import JoineryError
from spark_joinery.jar import configure_spark, inherited
from spark_joinery.jobs.metastore import ensure_metastore_free
from spark_joinery.start import started

log = logging.getLogger(__name__)

CATALOG = "spark.sql.catalogImplementation"
CONNECTION_URL = "spark.hadoop.javax.jdo.option.ConnectionURL"
METASTORE_URIS = "spark.hadoop.hive.metastore.uris"

_DEFAULTS = {
    # the tables that a job registers must outlive its session
    CATALOG: "hive",
    "spark.ui.showConsoleProgress": "false",
}


def stop_session(spark: SparkSession) -> None:
    """Stop a session, which is fine if its JVM has ended already.

    Args:
        spark: The session.
    """
    try:
        spark.stop()
    except Exception as error:
        # the jobs have said what happened, and there is nothing left to stop
        if not is_gone(error):
            raise
        log.info("There is nothing left to stop: %s", error)


def ensure_metastore_of(confs: Mapping[str, str], timeout_s: float = 5.0) -> None:
    """Return once no other process has the embedded metastore of a session open.

    Args:
        confs: Settings of the session to come.
        timeout_s: How long to wait for the other process, in seconds.

    Raises:
        MetastoreLockedError: If it has not ended by then.

    Example:
        >>> ensure_metastore_of({"spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:;databaseName=/data/meta"})
    """
    settings = {**_DEFAULTS, **confs}
    if settings[CATALOG] == "hive" and METASTORE_URIS not in settings:
        # without a setting Hive opens this folder below the working directory
        ensure_metastore_free(settings.get(CONNECTION_URL, "metastore_db"), timeout_s)


def build_session(app_name: str, confs: Mapping[str, str], *, metastore_timeout_s: float = 5.0) -> SparkSession:
    """Start a session, or return the one that runs in this process.

    The Joinery jar is loaded if there is one for this Spark; the jobs work without it.

    Args:
        app_name: Shown in Spark's UI and by the cluster manager.
        confs: Spark settings, `spark.master` among them.
        metastore_timeout_s: How long to wait for another process to close an embedded Derby metastore, in seconds.

    Returns:
        A classic session with Hive support, unless `spark.sql.catalogImplementation` says otherwise.

    Raises:
        MetastoreLockedError: If another process keeps the metastore open; without the check Spark would hang.
        SparkNotStartedError: If there is no Java, no such master, or Spark refuses a setting.

    Example:
        >>> spark = build_session("nightly", {"spark.master": "local[2]", "spark.sql.warehouse.dir": "/data/warehouse"})
    """
    # settings given to spark-submit must win over the defaults, and the check of the lock must know them
    submitted = {key: value for key in (CATALOG, CONNECTION_URL, METASTORE_URIS) if (value := inherited(key))}
    settings = {**_DEFAULTS, **submitted, **confs}
    # a session that already runs in this process is reused, and may be the holder of the lock
    if SparkContext._active_spark_context is None:
        ensure_metastore_of(settings, metastore_timeout_s)
    builder = SparkSession.builder.appName(app_name)
    for key, value in settings.items():
        builder.config(key, value)
    try:
        builder = configure_spark(builder)
    except JoineryError as error:
        log.info("The session runs without the Joinery jar, which the jobs do not need: %s", error)
    return started(builder)
