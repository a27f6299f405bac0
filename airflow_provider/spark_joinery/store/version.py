"""Versions of an artifact: complete, being written, looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from spark_joinery.store import layout
from spark_joinery.store.fingerprint import Fingerprint


@dataclass(frozen=True)
class ArtifactVersion:
    """One complete version of an artifact.

    Attributes:
        name: Name of the version; later ones sort later.
        path: Its folder.
        description: The content of `version.json` in the newest format. Fields that an older format lacks are None.
        format_version: The format in which it was written.
    """

    name: str
    path: str
    description: Mapping[str, Any]
    format_version: int

    @property
    def data_path(self) -> str:
        """Folder of the Parquet files, for `spark.read.parquet`."""
        return f"{self.path}/{layout.DATA}"

    @property
    def state_path(self) -> str:
        """Folder of the Parquet files that an incremental refresh merges with, if the version has any."""
        return f"{self.path}/{layout.STATE}"

    @property
    def has_state(self) -> bool:
        """Whether there is anything in `state_path`."""
        return any(entry["path"].startswith(f"{layout.STATE}/") for entry in self.description["files"])

    @property
    def fingerprint(self) -> Fingerprint:
        """State of the source that the version was built from."""
        return cast("Fingerprint", self.description["fingerprint"])


@dataclass(frozen=True)
class Lookup:
    """Answer to "which version is current?".

    Attributes:
        version: The version to use, or None if there is no valid one.
        reason: Why it is not the one that was published last, or why there is none; None if all is well.
        damaged: Whether the version published last cannot be used.
        may_pass: Whether the file system could not read that version now. It may be undamaged, and readable later.
    """

    version: ArtifactVersion | None
    reason: str | None
    damaged: bool = False
    may_pass: bool = False


@dataclass(frozen=True)
class PendingVersion:
    """A version being written. Readers do not see it before `ArtifactStore.publish`.

    Attributes:
        kind: Kind of artifact.
        relation: Identity of the relation.
        spec_hash: Hash of the specification.
        name: Name of the version.
        folder: Folder of the artifact.
    """

    kind: str
    relation: str
    spec_hash: str
    name: str
    folder: str

    @property
    def path(self) -> str:
        """Folder of the version."""
        return f"{self.folder}/{layout.VERSIONS}/{self.name}"

    @property
    def data_path(self) -> str:
        """Folder to write the Parquet files to; it does not exist yet."""
        return f"{self.path}/{layout.DATA}"

    @property
    def state_path(self) -> str:
        """Folder to write Parquet files of mergeable state to, if there is any; it does not exist yet."""
        return f"{self.path}/{layout.STATE}"
