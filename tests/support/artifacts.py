"""The real builders build artifacts from any DataFrame into a real store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame
from spark_joinery.jobs.builders.bloom_filter import build_bloom_filter
from spark_joinery.jobs.builders.distribution import build_distribution
from spark_joinery.jobs.builders.range_index import build_range_index
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, Spec
from spark_joinery.store import ArtifactStore, ArtifactVersion, open_store


@dataclass
class Workshop:
    """Builds artifacts from DataFrames without a table."""

    store: ArtifactStore

    @classmethod
    def below(cls, folder: Path, frame: DataFrame) -> Workshop:
        return cls(open_store(frame.sparkSession, str(folder / "store")))

    def build(self, frame: DataFrame, spec: Spec, base: ArtifactVersion | None = None) -> ArtifactVersion:
        request = ArtifactRequest.of_table("raw.t", spec)
        pending = self.store.begin(request.kind, request.relation, request.spec_hash)
        if isinstance(spec, DistributionSpec):
            built = build_distribution(frame, spec, "raw.t", pending, self.store.filesystem, base)
        elif isinstance(spec, BloomFilterSpec):
            built = build_bloom_filter(frame, spec, "raw.t", pending, base)
        else:
            built = build_range_index(frame, spec, "raw.t", pending, self.store.filesystem, base)
        details = {**built.details, "rows": built.rows, "keys": built.keys, "hot_keys": built.hot_keys}
        return self.store.publish(pending, {"type": "none", "reason": "a test", "files": []}, details)
