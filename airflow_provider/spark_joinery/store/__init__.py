"""The artifact store: what was precomputed, in immutable versions, on any file system."""

from spark_joinery.store.artifact_store import ArtifactStore, open_store
from spark_joinery.store.errors import StoreError, StoreNameError, StoreNotWritableError
from spark_joinery.store.filesystem import ArrowFileSystem, FileStatus, FileSystem, HadoopFileSystem
from spark_joinery.store.fingerprint import Fingerprint, Listing, fingerprint, list_source, permissions_of
from spark_joinery.store.formats import FORMAT_VERSION
from spark_joinery.store.layout import artifact_folder, relation_folder
from spark_joinery.store.retention import Limits, Removal
from spark_joinery.store.version import ArtifactVersion, Lookup, PendingVersion

__all__ = [
    "FORMAT_VERSION",
    "ArrowFileSystem",
    "ArtifactStore",
    "ArtifactVersion",
    "FileStatus",
    "FileSystem",
    "Fingerprint",
    "HadoopFileSystem",
    "Limits",
    "Listing",
    "Lookup",
    "PendingVersion",
    "Removal",
    "StoreError",
    "StoreNameError",
    "StoreNotWritableError",
    "artifact_folder",
    "fingerprint",
    "list_source",
    "open_store",
    "permissions_of",
    "relation_folder",
]
