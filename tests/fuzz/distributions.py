"""Builds distributions of tables in a store, which say where windows and LAST JOIN cut hot keys."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from spark_joinery.jobs import refresh_artifact
from spark_joinery.metadata import ArtifactRequest, DistributionSpec, HotKeys
from spark_joinery.store import open_store


def build(spark: SparkSession, source: Path, store: Path, described: dict[str, Any]) -> None:
    """Refresh the distribution of a folder of Parquet files, once.

    Args:
        spark: A classic session.
        source: The folder.
        store: The store.
        described: "keys" and "order", and "rows", from which on a key is hot.
    """
    done = store / f"built-{hashlib.sha256(json.dumps([str(source), described]).encode()).hexdigest()[:16]}"
    if done.exists():
        return
    store.mkdir(exist_ok=True)
    done.touch()
    spec = DistributionSpec(
        partition_by=described["keys"],
        order_by=described["order"],
        quantiles=described.get("quantiles", 8),
        hot=HotKeys(min_rows=described.get("rows", 2)),
    )
    request = ArtifactRequest.of_table(f"parquet.`{source}`", spec)
    # a job may refuse a type: then there is no distribution, and nothing else changes
    with contextlib.suppress(Exception):
        refresh_artifact(spark, request, open_store(spark, str(store)), schema=None)
