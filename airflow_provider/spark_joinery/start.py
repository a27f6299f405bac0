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
        builder: The settings of the session.

    Returns:
        The session.

    Raises:
        SparkNotStartedError: If Spark cannot be started, for any reason.
    """
    try:
        return builder.getOrCreate()
    except Exception as error:
        # py4j, Spark and Spark Connect raise different errors for a missing Java, master or class
        raise SparkNotStartedError(f"Spark could not be started: {one_line(error).rstrip('.')}.") from error
