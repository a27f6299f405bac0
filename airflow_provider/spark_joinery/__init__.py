"""Joinery: fast and safe LAST JOIN, range joins, skewed windows and selective joins for Spark.

Importing this package needs none of pyspark, Airflow or dbt: clusters bring their own.

Example:
    >>> from pyspark.sql import SparkSession
    >>> from spark_joinery import configure_spark, last_join
    >>> spark = configure_spark(SparkSession.builder.master("local[2]")).getOrCreate()
    >>> latest = last_join(flights, weather, on="origin", order_by="observed_at")
"""

from __future__ import annotations

from importlib.metadata import version

from spark_joinery.dataframe import last_join, range_join
from spark_joinery.errors import JoineryError, JoineryWarning
from spark_joinery.jar import configure_spark, jar_path

__version__ = version("spark-joinery")

__all__ = ["JoineryError", "JoineryWarning", "__version__", "configure_spark", "jar_path", "last_join", "range_join"]
