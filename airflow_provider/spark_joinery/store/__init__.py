"""The artifact store: what was precomputed, in immutable versions, on any Hadoop file system."""

from spark_joinery.store.artifact_store import ArtifactStore, open_store
from spark_joinery.store.errors import StoreError, StoreNameError, StoreNotWritableError
from spark_joinery.store.filesystem import FileStatus, HadoopFileSystem
from spark_joinery.store.fingerprint import Fingerprint, Listing, fingerprint, list_source, permissions_of
from spark_joinery.store.layout import artifact_folder, relation_folder
from spark_joinery.store.verify import FORMAT_VERSION
from spark_joinery.store.version import ArtifactVersion, Lookup, PendingVersion

__all__ = [
    "FORMAT_VERSION",
    "ArtifactStore",
    "ArtifactVersion",
    "FileStatus",
    "Fingerprint",
    "HadoopFileSystem",
    "Listing",
    "Lookup",
    "PendingVersion",
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
