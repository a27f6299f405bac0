"""The artifacts that a dbt project declares under `meta.joinery`, read from its manifest.

This package needs neither Spark nor dbt nor Airflow.
"""

from spark_joinery.metadata.identity import (
    RelationNameError,
    canonical_json,
    distribution_table_name,
    path_identity,
    quote_name,
    relation_identity,
    spec_hash,
    split_name,
)
from spark_joinery.metadata.manifest import (
    Manifest,
    ManifestError,
    ManifestFormatError,
    ManifestNotFoundError,
    ManifestNotReadableError,
    MetaError,
    NothingDeclaredError,
    read_manifest,
)
from spark_joinery.metadata.models import (
    BloomFilterSpec,
    DistributionSpec,
    HotKeys,
    JoineryMeta,
    Kind,
    RangeIndexSpec,
    Spec,
)
from spark_joinery.metadata.request import ArtifactRequest, ResourceType, Stage, artifact_table_name
from spark_joinery.metadata.selection import UnknownNameError, select

__all__ = [
    "ArtifactRequest",
    "BloomFilterSpec",
    "DistributionSpec",
    "HotKeys",
    "JoineryMeta",
    "Kind",
    "Manifest",
    "ManifestError",
    "ManifestFormatError",
    "ManifestNotFoundError",
    "ManifestNotReadableError",
    "MetaError",
    "NothingDeclaredError",
    "RangeIndexSpec",
    "RelationNameError",
    "ResourceType",
    "Spec",
    "Stage",
    "UnknownNameError",
    "artifact_table_name",
    "canonical_json",
    "distribution_table_name",
    "path_identity",
    "quote_name",
    "read_manifest",
    "relation_identity",
    "select",
    "spec_hash",
    "split_name",
]
