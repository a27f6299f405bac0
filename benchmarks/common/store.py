"""The artifact store, filled as the nightly job fills it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from spark_joinery.metadata import Spec

SETTLED_S = 2.5  # a file must be this old before it counts as covered


def refresh(spark: SparkSession, table: Path, spec: Spec, store: str) -> float:
    """Build an artifact.

    Args:
        spark: The session that builds it.
        table: Folder of Parquet files.
        spec: The artifact to build.
        store: Folder of the store.

    Returns:
        The seconds that the build took.
    """
    from spark_joinery.jobs import refresh_artifact
    from spark_joinery.metadata import ArtifactRequest
    from spark_joinery.store import open_store

    time.sleep(SETTLED_S)
    start = time.perf_counter()
    refresh_artifact(spark, ArtifactRequest.of_table(f"parquet.`{table}`", spec), open_store(spark, store))
    return time.perf_counter() - start
