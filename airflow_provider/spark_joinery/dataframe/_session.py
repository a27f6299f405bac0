"""Checks of the session that the DataFrames of a join belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from spark_joinery.errors import JarNotLoadedError
from spark_joinery.jar import EXTENSION
from spark_joinery.loaded import is_loaded, misfit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Sessions known to have loaded the jar: asking costs a round trip on Spark Connect.
_loaded: WeakSet[Any] = WeakSet()


def is_connect(value: object) -> bool:
    """Tell whether a DataFrame or Column belongs to Spark Connect."""
    # by name: importing Connect's classes requires grpc, which classic users need not have
    return type(value).__module__.startswith("pyspark.sql.connect")


def functions_of(frame: DataFrame) -> Any:
    """The functions module that fits a DataFrame; both kinds may live in one process."""
    if is_connect(frame):
        from pyspark.sql.connect import functions

        return functions
    from pyspark.sql import functions as classic_functions

    return classic_functions


def check_jar(caller: str, spark: Any) -> None:
    """Raise an error unless the session runs with the Joinery extension."""
    if spark in _loaded:
        return
    if not is_loaded(spark):
        if why := misfit(spark):
            raise JarNotLoadedError(f"{caller}: {why}")
        raise JarNotLoadedError(
            f"{caller}: this Spark session runs without the Joinery extension. Create the session with "
            "spark_joinery.configure_spark(SparkSession.builder).getOrCreate(), before any other session exists in "
            f"this process; start a Spark Connect server with the jar and spark.sql.extensions={EXTENSION}."
        )
    _loaded.add(spark)
