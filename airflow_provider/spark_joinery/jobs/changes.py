"""Find out how a source has changed since an artifact was built from it."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from spark_joinery.jobs.reading import changed_setting
from spark_joinery.jobs.snapshots import appended, file_metadata
from spark_joinery.jobs.source import Source
from spark_joinery.store import ArtifactVersion, is_proven


@dataclass(frozen=True)
class Unchanged:
    """The artifact covers the source as it is."""


@dataclass(frozen=True)
class Appended:
    """Rows were added, and nothing else happened.

    Attributes:
        rows: The new rows; reading them touches only the files that they lie in.
    """

    rows: DataFrame


@dataclass(frozen=True)
class Rebuild:
    """The artifact has to be built from all rows.

    Attributes:
        reason: Why.
    """

    reason: str


def changes_since(
    spark: SparkSession, source: Source, version: ArtifactVersion | None
) -> Unchanged | Appended | Rebuild:
    """Compare a source with what a version of an artifact was built from.

    Args:
        spark: A session.
        source: The source as it is now.
        version: The version; None if there is none yet.

    Returns:
        Whether nothing changed, only rows were added, or a build from all rows is necessary.
    """
    if version is None:
        return Rebuild("nothing has been published yet")
    before = version.fingerprint
    if not is_proven(version.description):
        return Rebuild("an older release built it, and it cannot be proven complete")
    if source.description is None or not source.is_verifiable:
        return Rebuild("changes of this relation cannot be seen")
    if version.description.get("source") != source.description:
        return Rebuild("its columns, format or options changed")
    if changed := changed_setting(version.description, source.settings):
        return Rebuild(f"what Spark reads may have changed: {changed}")
    if before["type"] != ("snapshot" if source.snapshot else "files"):
        return Rebuild(before["reason"] or "what it was built from is unknown")
    if source.snapshot:
        return _since_snapshot(spark, source, version)
    if before.get("uncovered", 0):
        return Rebuild(f"{before['uncovered']} files changed while the last version was built")
    return _since_files(source, version)


def _since_snapshot(spark: SparkSession, source: Source, version: ArtifactVersion) -> Unchanged | Appended | Rebuild:
    snapshot, before = source.snapshot, version.fingerprint
    assert snapshot is not None
    if before.get("table_id") != snapshot.table_id:
        return Rebuild("another table has the name now")
    if before.get("version") == snapshot.version:
        return Unchanged()
    if snapshot.version is None or before.get("version") is None:
        return Rebuild("the table was empty, or is")
    rows = appended(spark, source.name, str(before["version"]), snapshot)
    return Rebuild("rows were not only appended, or columns may have changed") if rows is None else Appended(rows)


def _since_files(source: Source, version: ArtifactVersion) -> Unchanged | Appended | Rebuild:
    known = {(file["path"], file["length"], file["modified_ms"]) for file in version.fingerprint["files"]}
    now = {(file.path, file.length, file.modified_ms) for file in source.listing.files}
    gone = len(known - now)
    if gone:
        return Rebuild(f"{gone} of {len(known)} files vanished or changed")
    new = {path for path, _, _ in now - known}
    if not new:
        return Unchanged()
    uris = source.uris()
    spelled = [uris[path] for path in sorted(new) if path in uris]
    # the filter below finds no rows of a file whose name Spark spells in another way, so check the spelling first
    if len(spelled) < len(new) or not source.spells(uris):
        return Rebuild("new files cannot be told from old ones by their names")
    return Appended(source.frame.where(file_metadata(source.frame, "file_path").isin(spelled)))
