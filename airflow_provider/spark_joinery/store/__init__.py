"""The artifact store: immutable versions of precomputed artifacts, on any file system."""

from spark_joinery.store.artifact_store import ArtifactStore, open_store
from spark_joinery.store.catalog import Artifact, is_named, list_artifacts, may_be
from spark_joinery.store.contents import is_proven
from spark_joinery.store.errors import StoreError, StoreNameError, StoreNotReadableError, StoreNotWritableError
from spark_joinery.store.filesystem import ArrowFileSystem, FileStatus, FileSystem, HadoopFileSystem
from spark_joinery.store.fingerprint import (
    Fingerprint,
    Listing,
    fingerprint,
    list_settled,
    list_source,
    path_of_uri,
    permissions_of,
)
from spark_joinery.store.formats import FORMAT_VERSION
from spark_joinery.store.layout import artifact_folder, relation_folder
from spark_joinery.store.retention import Limits, Removal
from spark_joinery.store.sources import Sources, path_of
from spark_joinery.store.summary import Summary, VersionSummary, history, summarise
from spark_joinery.store.vacuum import VacuumResult, vacuum
from spark_joinery.store.validity import Coverage, SourceNow, Validity, coverage_of, validity_of
from spark_joinery.store.verify import Verify
from spark_joinery.store.version import ArtifactVersion, Lookup, PendingVersion

__all__ = [
    "FORMAT_VERSION",
    "ArrowFileSystem",
    "Artifact",
    "ArtifactStore",
    "ArtifactVersion",
    "Coverage",
    "FileStatus",
    "FileSystem",
    "Fingerprint",
    "HadoopFileSystem",
    "Limits",
    "Listing",
    "Lookup",
    "PendingVersion",
    "Removal",
    "SourceNow",
    "Sources",
    "StoreError",
    "StoreNameError",
    "StoreNotReadableError",
    "StoreNotWritableError",
    "Summary",
    "VacuumResult",
    "Validity",
    "Verify",
    "VersionSummary",
    "artifact_folder",
    "coverage_of",
    "fingerprint",
    "history",
    "is_named",
    "is_proven",
    "list_artifacts",
    "list_settled",
    "list_source",
    "may_be",
    "open_store",
    "path_of",
    "path_of_uri",
    "permissions_of",
    "relation_folder",
    "summarise",
    "vacuum",
    "validity_of",
]
