"""The JVM that pyspark starts in this process, and leaves running."""

from __future__ import annotations


def jvm_runs() -> bool:
    """
    Look for a JVM in this process.

    :return: whether pyspark has started one, for this hook or for other code
    """
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def end_jvm() -> None:
    """
    End the JVM of this process.

    ``SparkSession.stop`` leaves the JVM running, and so the embedded metastore locked. pyspark has no public way to end
    it. The JVM's launcher ends, and stops the application, when its standard input is closed.
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
