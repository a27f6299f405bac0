"""Look at a source as it is now, to find out whether artifacts that were built from it are still valid."""

from __future__ import annotations

from pyspark.sql import SparkSession

from spark_joinery.jobs.source import open_source
from spark_joinery.metadata import ArtifactRequest, quote_name
from spark_joinery.metadata.models import BloomFilterSpec
from spark_joinery.store import ArtifactVersion, FileSystem, SourceNow, path_of

# A request needs a specification, but opening a source does not use it.
_ANY = BloomFilterSpec(keys=["any"])


def source_now(
    spark: SparkSession, filesystem: FileSystem, relation: str, version: ArtifactVersion
) -> SourceNow | None:
    """Look at a source in the way in which a refresh opens it.

    Args:
        spark: A session, best one whose catalog has the source.
        filesystem: The session's file systems.
        relation: Identity of the source.
        version: A version of one of its artifacts, which knows the format of a path, and how it was declared.

    Returns:
        The source; None if the session knows no such relation.

    Raises:
        SourceError: If it cannot be read. Catalogs and file systems may raise errors of their own.
    """
    name = relation
    if ":/" in relation:
        provider = (version.description.get("source") or {}).get("provider", "parquet")
        name = quote_name(str(provider), path_of(relation, version))
    source = open_source(spark, ArtifactRequest(relation, name, _ANY), filesystem)
    if source is None:
        return None
    if source.snapshot:
        return SourceNow(None, (source.snapshot.table_id, source.snapshot.version), source.description)
    return SourceNow(source.listing, None, source.description)
