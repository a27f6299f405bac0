"""Start Spark, or say in one line why it does not start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_joinery.cause import one_line
from spark_joinery.errors import SparkNotStartedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def started(builder: SparkSession.Builder) -> SparkSession:
    """Start a session, or return the one that runs in this process.

    Args:
        builder: What the session is to be like.

    Returns:
        The session.

    Raises:
        SparkNotStartedError: If there is none for it, whatever the reason.
    """
    try:
        return builder.getOrCreate()
    except Exception as error:
        # no Java, no master, a class that is missing: py4j, Spark and Spark Connect have errors of their own for each
        raise SparkNotStartedError(f"Spark could not be started: {one_line(error).rstrip('.')}.") from error
