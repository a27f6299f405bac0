"""How the sources of artifacts are now, as far as the session sees them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from spark_joinery.metadata import ArtifactRequest, quote_name
from spark_joinery.metadata.models import BloomFilterSpec
from spark_joinery.store import Coverage, SourceNow, Validity, coverage_of, validity_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_joinery.store import ArtifactVersion, FileSystem

log = logging.getLogger(__name__)

# A request needs a specification, and looking at a source needs none.
_ANY = BloomFilterSpec(keys=["any"])


class Sources:
    """The sources that one report asks for, each looked at once."""

    def __init__(self, spark: SparkSession, filesystem: FileSystem) -> None:
        """See `read_report`.

        Args:
            spark: The session that looks.
            filesystem: Its file systems.
        """
        self._spark = spark
        self._filesystem = filesystem
        self._seen: dict[str, SourceNow | None] = {}

    def compare(self, relation: str, version: ArtifactVersion) -> tuple[Validity, Coverage | None]:
        """Compare a version with its source.

        Args:
            relation: Identity of the source.
            version: The version.

        Returns:
            Whether the jar uses it, and how many of the source's files it covers, if it is known by files.
        """
        if relation not in self._seen:
            self._seen[relation] = self._look(relation, version)
        now = self._seen[relation]
        coverage = None
        if now and now.listing and version.fingerprint["type"] == "files":
            coverage = coverage_of(version.fingerprint, now.listing)
        return validity_of(version, now), coverage

    def _look(self, relation: str, version: ArtifactVersion) -> SourceNow | None:
        """Look at a source; None if the session does not see it."""
        from spark_joinery.jobs.source import open_source

        sql_name = relation
        if ":/" in relation:
            sql_name = quote_name(str((version.description.get("source") or {}).get("provider", "parquet")), relation)
        try:
            source = open_source(self._spark, ArtifactRequest(relation, sql_name, _ANY), self._filesystem)
        except Exception:
            # whatever Spark, its catalogs and file systems raise: the rest of the report is still worth having
            log.info("%s cannot be seen", relation, exc_info=True)
            return None
        if source is None:
            return None
        snapshot = (source.snapshot.table_id, source.snapshot.version) if source.snapshot else None
        return SourceNow(source.listing, snapshot, source.description)
