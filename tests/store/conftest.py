"""Both ways to the files of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from spark_joinery.store import ArrowFileSystem, FileSystem, HadoopFileSystem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(params=["hadoop", "arrow"])
def filesystem(request: pytest.FixtureRequest) -> FileSystem:
    """The file systems of Spark's JVM, then those of pyarrow."""
    if request.param == "arrow":
        return ArrowFileSystem()
    spark: SparkSession = request.getfixturevalue("spark")
    return HadoopFileSystem.of_session(spark)
