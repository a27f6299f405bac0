"""Describe the artifacts of a store in numbers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spark_joinery.store import layout
from spark_joinery.store.artifact_store import ArtifactStore
from spark_joinery.store.catalog import Artifact
from spark_joinery.store.filesystem import FileSystem
from spark_joinery.store.lookup import complete_versions, find_current, newest_first
from spark_joinery.store.verify import DamagedError, Verify, read_version
from spark_joinery.store.version import ArtifactVersion


@dataclass(frozen=True)
class Summary:
    """One artifact.

    Attributes:
        relation: Identity of the relation.
        kind: Kind of artifact.
        spec_hash: Hash of the specification.
        spec: The specification; None if no version can be read.
        version: Name of the version in use; None if there is none.
        format_version: The format in which that was written.
        built_at: Time of the build, by the clock of the machine that built it.
        built_by: User, machine and release that built it.
        age_seconds: Time since it was written, by the clock of the store's files.
        bytes: Length of its files.
        rows: Rows of the relation.
        versions: Complete versions that are kept.
        damaged: Whether the version published last cannot be used.
        reason: Why that version is not used, or why there is none.
    """

    relation: str
    kind: str
    spec_hash: str
    spec: Mapping[str, Any] | None
    version: str | None
    format_version: int | None
    built_at: str | None
    built_by: str | None
    age_seconds: float | None
    bytes: int | None
    rows: int | None
    versions: int
    damaged: bool
    reason: str | None


@dataclass(frozen=True)
class VersionSummary:
    """One version of an artifact, in any state.

    Attributes:
        version: Its name.
        state: "in use", "kept", "incomplete", or why it cannot be used.
        built_at: Time of the build, by the clock of the machine that built it; None if it cannot be read.
        built_by: User, machine and release that built it.
        bytes: Length of its files.
        rows: Rows of the relation.
    """

    version: str
    state: str
    built_at: str | None = None
    built_by: str | None = None
    bytes: int | None = None
    rows: int | None = None


def summarise(
    store: ArtifactStore, artifact: Artifact, verify: Verify = "length"
) -> tuple[Summary, ArtifactVersion | None]:
    """Describe an artifact by the version in use.

    Args:
        store: The store.
        artifact: One of its artifacts.
        verify: How carefully to look at the files.

    Returns:
        The description, and the version itself.

    Raises:
        OSError: If the store cannot be read.
    """
    lookup = find_current(store.filesystem, artifact.folder, verify)
    complete = complete_versions(store.filesystem, artifact.folder)
    version = lookup.version
    described = version.description if version else {}
    # not below 0, even if the clock of the store is ahead of ours
    age = max(0.0, time.time() - complete[version.name] / 1000) if version and version.name in complete else None
    summary = Summary(
        artifact.relation,
        artifact.kind,
        artifact.spec_hash,
        described.get("spec"),
        version.name if version else None,
        version.format_version if version else None,
        described.get("built_at"),
        described.get("built_by"),
        round(age, 1) if age is not None else None,
        _bytes(version) if version else None,
        described.get("rows"),
        len(complete),
        lookup.damaged,
        lookup.reason,
    )
    return summary, version


def history(filesystem: FileSystem, artifact: Artifact, in_use: str | None) -> list[VersionSummary]:
    """Describe all versions of an artifact.

    Args:
        filesystem: File system of the store.
        artifact: The artifact.
        in_use: Name of the version in use.

    Returns:
        The versions, the newest first.

    Raises:
        OSError: If the store cannot be read.
    """
    complete = complete_versions(filesystem, artifact.folder)
    names = [status.name for status in filesystem.list(f"{artifact.folder}/{layout.VERSIONS}")]
    versions = []
    for name in newest_first(names, in_use):
        if name not in complete:
            versions.append(VersionSummary(name, "incomplete"))
            continue
        try:
            version = read_version(filesystem, artifact.folder, name, verify="length")
        except DamagedError as problem:
            versions.append(VersionSummary(name, str(problem).removeprefix(f"version {name}: ")))
            continue
        described = version.description
        state = "in use" if name == in_use else "kept"
        row = (described.get("built_at"), described.get("built_by"), _bytes(version), described.get("rows"))
        versions.append(VersionSummary(name, state, *row))
    return versions


def _bytes(version: ArtifactVersion) -> int:
    return sum(file["length"] for file in version.description["files"])
