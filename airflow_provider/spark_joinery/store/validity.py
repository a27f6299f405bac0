"""Check whether an artifact is still valid for its source, as far as that is known without a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spark_joinery.store.contents import is_proven
from spark_joinery.store.fingerprint import Fingerprint, Listing
from spark_joinery.store.version import ArtifactVersion

# A range index needs a source with at least this many times the bytes of its new files. The jar has the same limit.
_LEAST_STORED = 4
# The same for a bloom filter, with the bytes of new and changed files.
_LEAST_FILTERED = 2


@dataclass(frozen=True)
class SourceNow:
    """A source as it is now. Unknown attributes are None.

    Attributes:
        listing: Its files.
        snapshot: Identity and version of a Delta Lake or Iceberg table, as in a fingerprint.
        description: The entry `source` of a new `version.json`: provider, options, schema, partition columns.
    """

    listing: Listing | None = None
    snapshot: tuple[str | None, str | None] | None = None
    description: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Coverage:
    """Number of files that an artifact covers, compared with the files of its source now.

    Attributes:
        covered: Files that the source has now and the artifact covers, with the same length and time.
        total: Files that the source has now.
        gone: Files that the artifact covers and the source no longer has, or has changed.
    """

    covered: int
    total: int
    gone: int


@dataclass(frozen=True)
class Validity:
    """Whether a version is used now.

    Attributes:
        usable: None if that is not known.
        reason: Why, in a few words.
    """

    usable: bool | None
    reason: str


def coverage_of(fingerprint: Fingerprint, listing: Listing) -> Coverage:
    """Compare what an artifact covers with the files of its source.

    Args:
        fingerprint: A fingerprint of type "files".
        listing: The source's files now.

    Returns:
        The comparison.
    """
    covered = {(f["path"], f["length"], f["modified_ms"]) for f in fingerprint["files"]}
    now = {(f.path, f.length, f.modified_ms) for f in listing.files}
    return Coverage(len(now & covered), len(now), len(covered - now))


def validity_of(version: ArtifactVersion, now: SourceNow | None) -> Validity:
    """Tell whether the jar would use a version for a query on the whole source.

    Args:
        version: The version.
        now: The source; None if it was not looked at.

    Returns:
        The answer. A yes still depends on the query's own columns, types, predicates, other side and settings.
    """
    kind = version.description["kind"]
    fingerprint = version.fingerprint
    if kind == "distribution" and fingerprint["type"] == "none":
        # Spark has replaced a view by its tables before the jar looks for distributions
        return Validity(
            True, "dbt's skew_window uses it where it works without the jar, which uses only those of tables with files"
        )
    if kind == "distribution":
        return Validity(True, "a distribution is always used: a stale one balances worse")
    if fingerprint["type"] == "none":
        return Validity(False, str(fingerprint["reason"]))
    if never := _never(version):
        return Validity(False, never)
    if now is None:
        return Validity(None, "the source was not looked at")
    built_from = version.description.get("source")
    if now.description is not None and (changed := _difference(built_from, now.description)):
        return Validity(False, changed)
    if fingerprint["type"] == "snapshot":
        return _snapshot_validity(fingerprint, now.snapshot)
    if now.listing is None:
        return Validity(None, "the source's files are not known")
    coverage = coverage_of(fingerprint, now.listing)
    if kind == "range_index":
        return _validity_of_rows(fingerprint, now.listing, coverage)
    return _validity_of_keys(fingerprint, now.listing, coverage)


def _validity_of_keys(fingerprint: Fingerprint, listing: Listing, coverage: Coverage) -> Validity:
    """Validity of a bloom filter. Queries read the keys of files that it lacks; keys of deleted files do no harm."""
    covered = {(file["path"], file["length"], file["modified_ms"]) for file in fingerprint["files"]}
    other = [file.length for file in listing.files if (file.path, file.length, file.modified_ms) not in covered]
    changed = f"{len(other)} of {coverage.total} files are new or changed"
    if sum(other) * _LEAST_FILTERED > sum(file.length for file in listing.files):
        return Validity(False, f"{changed}, and hold more than the others")
    if other:
        return Validity(True, f"{changed}, and queries read their keys on top")
    return Validity(True, "all files of the source are covered")


def _validity_of_rows(fingerprint: Fingerprint, listing: Listing, coverage: Coverage) -> Validity:
    """Validity of a range index. It must hold no rows of deleted files, or of files that were changing."""
    if coverage.gone:
        return Validity(False, f"{coverage.gone} files it was built from are gone or changed")
    if fingerprint.get("uncovered"):
        return Validity(False, f"{fingerprint.get('uncovered')} files were still changing when it was built")
    covered = {file["path"] for file in fingerprint["files"]}
    new = [file.length for file in listing.files if file.path not in covered]
    if sum(new) * _LEAST_STORED > sum(file.length for file in listing.files):
        return Validity(False, f"{len(new)} of {coverage.total} files are new or changed")
    if new:
        return Validity(True, f"{len(new)} of {coverage.total} files are new, and are indexed on top")
    return Validity(True, "all files of the source are covered")


def _never(version: ArtifactVersion) -> str | None:
    """The reason why a version is never used, regardless of its source; None if there is none."""
    if not is_proven(version.description):
        return "it cannot be proven complete, as an older release built it; `joinery refresh` builds it again"
    if version.description["kind"] == "range_index" and "columns" not in version.description:
        return "it does not say which columns it holds, as an older release built it; `joinery refresh` builds it again"
    if not isinstance(version.description.get("settings"), Mapping):
        return "it does not say by which settings its source was read; `joinery refresh` builds it again"
    source = version.description.get("source") or {}
    keys = version.description.get("spec", {}).get("keys", [])
    partitions = {column.lower() for column in source.get("partition_columns", [])}
    if used := [key for key in keys if key.lower() in partitions]:
        return f"the key {used[0]} is a partition column, whose values the files do not hold"
    return None


def _difference(built_from: Mapping[str, Any] | None, now: Mapping[str, Any]) -> str | None:
    """Name the first change in how a source is read; None if there is none."""
    if built_from is None:
        return "it does not say how the source was read"
    changed = [name for name in ("provider", "options", "schema") if built_from.get(name) != now.get(name)]
    return f"the source's {changed[0]} has changed" if changed else None


def _snapshot_validity(fingerprint: Fingerprint, snapshot: tuple[str | None, str | None] | None) -> Validity:
    if snapshot is None:
        return Validity(None, "the source's snapshot is not known")
    table, version = fingerprint.get("table_id"), fingerprint.get("version")
    if table != snapshot[0]:
        return Validity(False, "the table was replaced by another one")
    if version is None or version != snapshot[1]:
        return Validity(False, f"built from snapshot {version}, the source is at {snapshot[1]}")
    return Validity(True, f"the source is still at snapshot {version}")
