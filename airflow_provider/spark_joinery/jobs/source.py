"""A relation as the jobs read it, with the state that an artifact of it is compared with later."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_joinery.cause import one_line
from spark_joinery.errors import JoineryError
from spark_joinery.jobs.builders.built import column
from spark_joinery.jobs.reading import reading_settings, skipping_option, strict_reader
from spark_joinery.jobs.snapshots import Snapshot, delta_snapshot, file_metadata, iceberg_snapshot
from spark_joinery.metadata import ArtifactRequest, split_name
from spark_joinery.metadata.identity import FILE_FORMATS
from spark_joinery.store import FileSystem, Fingerprint, Listing, fingerprint, list_settled, list_source, path_of_uri

FILE_PROVIDERS = frozenset({"parquet", "orc", "csv", "json", "text", "avro"})


class SourceError(JoineryError):
    """A relation cannot be read, or not in a way that an artifact could be built from."""


class SourceDescription(TypedDict):
    """How Spark reads a relation's files: if any of it changes, the same files mean something else.

    Attributes:
        provider: "parquet", "csv", "delta", ...
        options: "header=true,sep=;": sorted.
        schema: Name and type, as Spark's `simpleString`, of each column. A third entry is its value in files that lack
            it, if that is not NULL.
        partition_columns: Columns whose values stand in the catalog, not in the files; none for a path.
    """

    provider: str
    options: str
    schema: list[list[str]]
    partition_columns: list[str]


@dataclass(frozen=True)
class Source:
    """A relation, open for reading.

    Attributes:
        request: Names the relation.
        frame: Its rows. If `is_pinned`, they stay those of `snapshot`, even after later commits.
        description: How Spark reads it; None for a view.
        snapshot: The version of a Delta or Iceberg table.
        is_pinned: Whether the frame reads the snapshot by its version.
        listing: Files before Spark looked them up to read them; empty for an Iceberg table.
        filesystem: File system of these files.
        settings: Settings of Spark that change how it is read.
        left_out: Canonical paths of files that the frame passes over.
    """

    request: ArtifactRequest
    frame: DataFrame
    description: SourceDescription | None
    snapshot: Snapshot | None
    is_pinned: bool
    listing: Listing
    filesystem: FileSystem
    settings: dict[str, str | None]
    left_out: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Quoted name for messages and SQL."""
        return self.request.sql_name

    def fingerprint(self, *, is_increment: bool) -> Fingerprint:
        """Describe the state of the source that an artifact, just built from the frame, covers.

        Args:
            is_increment: Whether the build read only files of the listing.

        Returns:
            The fingerprint.
        """
        if self.description is None:
            return {"type": "none", "reason": "a view: it can change without its tables", "files": []}
        if self.snapshot and not self.is_pinned and self._has_moved():
            return {"type": "none", "reason": "the table was changed while the artifact was built", "files": []}
        if self.snapshot:
            table_id, version = self.snapshot.table_id, self.snapshot.version
            return {"type": "snapshot", "reason": None, "files": [], "table_id": table_id, "version": version}
        if self.description["provider"] not in FILE_PROVIDERS:
            return {"type": "none", "reason": f"a table of {self.description['provider']} has no files", "files": []}
        if self.request.kind == "range_index" and (reason := self._sharing()):
            return {"type": "none", "reason": reason, "files": []}
        after = list_source(self.frame, self.filesystem)
        return fingerprint(self.listing, after, is_increment=is_increment, left_out=self.left_out)

    def without_late_files(self) -> Source:
        """Leave out files that the listing did not find. The next refresh finds them as new files.

        Otherwise they would be read but not covered, and no artifact of a source that is written all the time could
        ever be proven valid.

        Returns:
            The source to build from. It is this one if no files are left out, or if names do not identify the files.
        """
        listed = {file.path for file in self.listing.files}
        if not listed or self.snapshot or not self.is_verifiable:
            return self
        uris = self.uris()
        late = sorted(uris.keys() - listed)
        if not late or not self.spells(uris):
            return self
        is_late = file_metadata(self.frame, "file_path").isin([uris[path] for path in late])
        return replace(self, frame=self.frame.where(~is_late), left_out=frozenset(late))

    def shares_files(self) -> bool:
        """Whether partitions share files. Spark reads the rows of a shared file once for each partition.

        The catalog only shows the folder of one partition at a time, so a query finds out. It reads no columns of the
        files. No query is needed if each partition has the folder that is named after it.
        """
        if self.description is None or self.snapshot or not self.description["partition_columns"]:
            return False
        if self._has_folders_of_partitions_only():
            return False
        partition = F.struct(*map(column, self.description["partition_columns"]))
        files = self.frame.groupBy(file_metadata(self.frame, "file_path"))
        return not files.agg(F.countDistinct(partition).alias("partitions")).where("partitions > 1").isEmpty()

    def _has_folders_of_partitions_only(self) -> bool:
        """Whether all files lie in the folders where Spark puts partitions, one folder for each partition.

        The number of folders proves nothing: Spark also lists folders below a partition's, and does not read them.
        """
        assert self.description is not None
        try:
            rows = self.frame.sparkSession.sql(f"SHOW PARTITIONS {self.name}").collect()
        except PySparkException:
            return False  # the catalog does not know
        depth = len(self.description["partition_columns"])
        folders = [folder.rsplit("/", depth) for folder in {path.rsplit("/", 1)[0] for path in self.uris()}]
        in_one_place = len({above for above, *_ in folders}) <= 1
        return in_one_place and {"/".join(names) for _, *names in folders} == {row[0] for row in rows}

    def _sharing(self) -> str | None:
        """The reason why a new index may hold rows of files that partitions share; None if it does not."""
        try:
            return "partitions of the table share files" if self.shares_files() else None
        except Exception as error:
            # a table that is being changed may raise any error; the index is built already, and must not fail
            return f"whether partitions of the table share files could not be seen: {one_line(error)}"

    def _has_moved(self) -> bool:
        """Whether a table with snapshots may have changed since the source was opened."""
        spark = self.frame.sparkSession
        description = describe(spark, self.request, _rows(spark, self.request))
        return (_snapshot(spark, self.name, description), description) != (self.snapshot, self.description)

    def uris(self) -> dict[str, str]:
        """The spelling of each file in Spark's column `_metadata.file_path`, by canonical path."""
        # inputFiles() writes file:///a, the column file:/a; both %20 for a space
        spelled = (uri.replace("file:///", "file:/", 1) for uri in self.frame.inputFiles())
        return {path_of_uri(uri): uri for uri in spelled}

    def spells(self, uris: dict[str, str]) -> bool:
        """Whether Spark's column spells the names of files as `uris` does, as far as a row shows."""
        sample = self.frame.select(file_metadata(self.frame, "file_path")).take(1)
        return not sample or sample[0][0] in uris.values()

    @property
    def is_verifiable(self) -> bool:
        """Whether a later reader can tell that the source is still the same."""
        if self.description is None:
            return False
        return self.snapshot is not None or self.description["provider"] in FILE_PROVIDERS


def open_source(spark: SparkSession, request: ArtifactRequest, filesystem: FileSystem) -> Source | None:
    """Open a relation, and write down its state before anything is read from it.

    Args:
        spark: A session.
        request: Names the relation.
        filesystem: The session's file systems.

    Returns:
        The source; None if the relation does not exist.

    Raises:
        SourceError: If it cannot be read.
    """
    name = request.sql_name
    try:
        # Spark reads a file up to the length that it had when Spark looked it up. Files are listed before that, and
        # again after the build, so that a change in between shows.
        listing = list_settled(_rows(spark, request), filesystem)
        frame = _rows(spark, request)
        description = None if is_view(spark, request) else describe(spark, request, frame)
    except AnalysisException as error:
        if _is_missing(error, request):
            return None
        raise SourceError(f"{name} cannot be read: {one_line(error)}") from error
    except PySparkException as error:
        raise SourceError(f"{name} cannot be read: {one_line(error)}") from error
    if description and (skipping := skipping_option(description["options"])):
        raise SourceError(
            f"{name} has the option {skipping}, by which Spark skips files that it cannot read. An artifact of it "
            f"could not tell which rows it covers. Remove the option from the table, and set "
            f"spark.sql.files.{skipping} where you need it."
        )
    if description and description["provider"] in FILE_PROVIDERS and not is_path(request):
        # only after the check above: Spark refuses the reader's options for a table with other values of them
        frame = strict_reader(spark).table(name)
    snapshot = _snapshot(spark, name, description)
    is_pinned = False
    if description and snapshot:
        frame, is_pinned = _rows_of_snapshot(spark, request, description, snapshot)
    return Source(request, frame, description, snapshot, is_pinned, listing, filesystem, reading_settings(spark))


def _rows(spark: SparkSession, request: ArtifactRequest) -> DataFrame:
    """The relation's rows as they are now."""
    if is_path(request):
        is_of_files = split_name(request.sql_name)[0].lower() in FILE_PROVIDERS
        return (strict_reader(spark) if is_of_files else spark.read).table(request.sql_name)
    # refreshed, as a session that has read the table before would use the files that it found then
    if spark.catalog.tableExists(request.sql_name):
        spark.catalog.refreshTable(request.sql_name)
    return spark.table(request.sql_name)


def _rows_of_snapshot(
    spark: SparkSession, request: ArtifactRequest, description: SourceDescription, snapshot: Snapshot
) -> tuple[DataFrame, bool]:
    """The rows of a table's snapshot, in the table's columns; and whether they stay the same after later commits."""
    if snapshot.version is not None:
        frame = spark.sql(f"SELECT * FROM {request.sql_name} VERSION AS OF {snapshot.version}")
        # Iceberg reads a snapshot in the columns that it was written with. ALTER TABLE makes no snapshot, and may have
        # changed them since.
        if _columns(frame) == description["schema"]:
            return frame, True
    return _rows(spark, request), False


def describe(spark: SparkSession, request: ArtifactRequest, frame: DataFrame) -> SourceDescription:
    """Write down how Spark reads a table or path.

    Args:
        spark: A session.
        request: Names the relation, which is no view.
        frame: Its rows.

    Returns:
        The description to store with an artifact.
    """
    schema = _columns(frame)
    if is_path(request):
        provider = split_name(request.sql_name)[0].lower()
        return {"provider": provider, "options": "", "schema": schema, "partition_columns": []}
    rows = [(row["col_name"], row["data_type"]) for row in spark.sql(f"DESCRIBE EXTENDED {request.sql_name}").collect()]
    detailed = dict(rows)
    return {
        "provider": str(detailed.get("Provider") or "unknown").lower(),
        "options": _options(str(detailed.get("Storage Properties") or "")),
        "schema": schema,
        "partition_columns": _partition_columns(rows),
    }


def _columns(frame: DataFrame) -> list[list[str]]:
    """The schema as a description has it."""
    return [
        # ALTER TABLE ... ADD COLUMNS (k INT DEFAULT 1) stores the value here, and leaves the files as they are
        [field.name, field.dataType.simpleString(), *filter(None, [field.metadata.get("EXISTS_DEFAULT")])]
        for field in frame.schema
    ]


def is_path(request: ArtifactRequest) -> bool:
    """Whether the relation is SQL on files: parquet.`/data/flights`."""
    parts = split_name(request.sql_name)
    return len(parts) == 2 and parts[0].lower() in FILE_FORMATS and "/" in parts[1]


def is_view(spark: SparkSession, request: ArtifactRequest) -> bool:
    """Whether the relation is a view, temporary ones too."""
    if is_path(request):
        return False
    return "VIEW" in spark.catalog.getTable(request.sql_name).tableType or (
        spark.catalog.getTable(request.sql_name).isTemporary
    )


def _options(properties: str) -> str:
    """The options of `[header=true, path=/a]` that say how files are read, as the jar writes them."""
    pairs = [option.partition("=") for option in properties.strip("[]").split(", ") if option]
    named = {key.lower(): value for key, _, value in pairs if key.lower() not in ("path", "serialization.format")}
    return ",".join(f"{key}={named[key]}" for key in sorted(named))


def _partition_columns(rows: list[tuple[str, str]]) -> list[str]:
    """The columns listed below the heading of `DESCRIBE EXTENDED`."""
    names = [name for name, _ in rows]
    if "# Partition Information" not in names:
        return []
    below = rows[names.index("# Partition Information") + 1 :]
    end = next((at for at, (name, _) in enumerate(below) if not name.strip()), len(below))
    return [name for name, _ in below[:end] if not name.startswith("#")]


def _snapshot(spark: SparkSession, name: str, description: SourceDescription | None) -> Snapshot | None:
    match description["provider"] if description else None:
        case "delta":
            return delta_snapshot(spark, name)
        case "iceberg":
            return iceberg_snapshot(spark, name)
    return None


def _is_missing(error: AnalysisException, request: ArtifactRequest) -> bool:
    """Whether Spark missed the relation itself, rather than a table that a view names or the files of a table."""
    *schema, name = split_name(request.sql_name)
    missed = error.getMessageParameters() or {}
    match error.getCondition():
        case "TABLE_OR_VIEW_NOT_FOUND":
            return _last_part(missed["relationName"]) == name.lower()
        case "SCHEMA_NOT_FOUND":
            return bool(schema) and _last_part(missed["schemaName"]) == schema[-1].lower()
        case "PATH_NOT_FOUND":
            return ":/" in request.relation
    return False


def _last_part(name: str) -> str:
    return split_name(name)[-1].lower()
