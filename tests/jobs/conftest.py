"""A store, and artifacts of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, HotKeys, RangeIndexSpec, Spec
from spark_joinery.store import ArtifactStore, open_store


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> ArtifactStore:
    return open_store(spark, str(tmp_path / "a store"))


@pytest.fixture
def kinds(tmp_path: Path) -> dict[str, ArtifactRequest]:
    """Requests for an artifact of each kind, for one path."""
    specs: list[Spec] = [
        DistributionSpec(partition_by=["k"], order_by="ts", quantiles=4, hot=HotKeys(min_share=0.2)),
        BloomFilterSpec(keys=["k"]),
        RangeIndexSpec(point="ts", columns=["k"]),
    ]
    return {r.kind: r for r in (ArtifactRequest.of_table(f"parquet.`{tmp_path}/a source`", spec) for spec in specs)}
