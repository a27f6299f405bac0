"""Versions of Delta Lake and Iceberg tables, asked for in SQL: neither library is needed to import this."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F


@dataclass(frozen=True)
class Snapshot:
    """One version of a table.

    Attributes:
        format: "delta" or "iceberg".
        table_id: Delta's table id, which a table of the same name does not share; None for Iceberg, whose snapshot
            ids are unique by themselves.
        version: Delta's version number or Iceberg's snapshot id, as a text; None for an Iceberg table without one.
    """

    format: str
    table_id: str | None
    version: str | None


def delta_snapshot(spark: SparkSession, name: str) -> Snapshot:
    """Find the latest version of a Delta table.

    Args:
        spark: A session with Delta Lake.
        name: Quoted name of the table.

    Returns:
        The snapshot.
    """
    table_id = spark.sql(f"DESCRIBE DETAIL {name}").collect()[0]["id"]
    version = spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").collect()[0]["version"]
    return Snapshot("delta", str(table_id), str(version))


def iceberg_snapshot(spark: SparkSession, name: str) -> Snapshot:
    """Find the current snapshot of an Iceberg table.

    Args:
        spark: A session with Iceberg.
        name: Quoted name of the table.

    Returns:
        The snapshot.
    """
    main = spark.sql(f"SELECT snapshot_id FROM {name}.refs WHERE name = 'main'").collect()
    return Snapshot("iceberg", None, str(main[0]["snapshot_id"]) if main else None)


def appended(spark: SparkSession, name: str, since: str, until: Snapshot) -> DataFrame | None:
    """Read the rows that were appended between two versions of a table.

    Args:
        spark: A session.
        name: Quoted name of the table.
        since: The earlier version; its rows are left out.
        until: The later version.

    Returns:
        The rows; None if anything but appends happened in between, if columns were changed, or if the table no longer
        knows.
    """
    return (_appended_to_delta if until.format == "delta" else _appended_to_iceberg)(spark, name, since, until)


def file_metadata(frame: DataFrame, name: str) -> Column:
    """A field of Spark's metadata about the file that a row lies in.

    Args:
        frame: The rows of a table or path.
        name: "file_path", "file_name", ...

    Returns:
        The field of Spark's own column `_metadata`, also where the relation has a column of that name.
    """
    return frame.metadataColumn("_metadata")[name]


def _appended_to_delta(spark: SparkSession, name: str, since: str, until: Snapshot) -> DataFrame | None:
    commits = spark.sql(f"DESCRIBE HISTORY {name}").where(
        F.col("version").between(int(since) + 1, int(until.version or 0))
    )
    history = commits.select("operation", F.col("operationParameters")["mode"].alias("mode")).collect()
    if len(history) != int(until.version or 0) - int(since):
        return None
    if not all(row["operation"] in ("WRITE", "STREAMING UPDATE") and row["mode"] != "Overwrite" for row in history):
        return None
    before = spark.sql(f"SELECT * FROM {name} VERSION AS OF {since}")
    after = spark.sql(f"SELECT * FROM {name} VERSION AS OF {until.version}")
    earlier, later = set(before.inputFiles()), set(after.inputFiles())
    if not earlier <= later:
        return None
    return after.where(file_metadata(after, "file_name").isin([file.rsplit("/", 1)[-1] for file in later - earlier]))


def _appended_to_iceberg(spark: SparkSession, name: str, since: str, until: Snapshot) -> DataFrame | None:
    rows = spark.sql(f"SELECT snapshot_id, parent_id, operation FROM {name}.snapshots").collect()
    snapshots = {str(row["snapshot_id"]): row for row in rows}
    at = until.version
    while at != since:
        if at not in snapshots or snapshots[at]["operation"] != "append":
            return None
        at = str(snapshots[at]["parent_id"])
    if not _have_one_schema(spark, name, since, str(until.version)):
        return None
    read = spark.read.format("iceberg").option("start-snapshot-id", since).option("end-snapshot-id", str(until.version))
    # Iceberg parses the name as SQL would
    return read.load(name)


def _have_one_schema(spark: SparkSession, name: str, *snapshots: str) -> bool:
    """Whether Iceberg wrote snapshots of a table with the same schema. Columns with other ids are other columns.

    A column that was dropped and added again has its former name and type, but is NULL in old rows.
    """
    entries = spark.sql(f"SELECT latest_snapshot_id, latest_schema_id FROM {name}.metadata_log_entries").collect()
    # the log is kept short: a snapshot that is missing in it may have any schema
    schemas = {str(row["latest_snapshot_id"]): row["latest_schema_id"] for row in entries}
    found = {schemas.get(snapshot) for snapshot in snapshots}
    return len(found) == 1 and None not in found
