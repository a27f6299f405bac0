"""The JVM that pyspark starts in this process, and leaves running."""

from __future__ import annotations


def jvm_runs() -> bool:
    """
    Look for a JVM in this process.

    :return: whether pyspark has started one, for whomever
    """
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def end_jvm() -> None:
    """
    End the JVM of this process.

    ``SparkSession.stop`` leaves it running, and with it the lock of the embedded metastore; pyspark has no public way.
    Its launcher ends, and stops the application, when its standard input does.
    """
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()
        process.wait(timeout=60)
