"""A dimension on disk in some format, and a store with an artifact of it, built by the real job."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from spark_joinery.jobs import refresh_artifact, runner
from spark_joinery.jobs.builders.built import ColumnUnusableError
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, RangeIndexSpec
from spark_joinery.store import open_store

from fuzz.cases.store_damage import DAMAGES
from fuzz.data import Table, write
from fuzz.running import settings
from fuzz.settings import Settings

# Each of these settings changes the meaning of some format, type or text.
SETTINGS_OF_READING: list[Settings] = [
    {"spark.sql.parser.escapedStringLiterals": "true"},
    {"spark.sql.ansi.enabled": "false"},
    {"spark.sql.ansi.enabled": "true", "spark.sql.ansi.doubleQuotedIdentifiers": "true"},
    {"spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY"},
    {"spark.sql.parquet.int96RebaseModeInRead": "LEGACY"},
    {"spark.sql.parquet.int96TimestampConversion": "true"},
    {"spark.sql.legacy.timeParserPolicy": "LEGACY"},
    {"spark.sql.caseSensitive": "true"},
    {"spark.sql.timestampType": "TIMESTAMP_NTZ"},
    {"spark.sql.files.ignoreCorruptFiles": "true"},
    {"spark.sql.files.ignoreMissingFiles": "true"},
    {"spark.sql.parser.quotedRegexColumnNames": "true"},
    {"spark.sql.legacy.exponentLiteralAsDecimal.enabled": "true"},
    {"spark.sql.legacy.literal.pickMinimumPrecision": "false"},
    {"spark.sql.legacy.castComplexTypesToString.enabled": "true"},
    {"spark.sql.legacy.typeCoercion.datetimeToString.enabled": "true"},
    {"spark.sql.csv.parser.columnPruning.enabled": "false"},
    {"spark.sql.parquet.enableVectorizedReader": "false"},
    {"spark.sql.orc.enableVectorizedReader": "false"},
]
# Pieces of SQL, with a setting that gives them another meaning.
MEANINGS: dict[str, Settings] = {
    "\\": {"spark.sql.parser.escapedStringLiterals": "true"},
    '"': {"spark.sql.ansi.enabled": "true", "spark.sql.ansi.doubleQuotedIdentifiers": "true"},
    "`": {"spark.sql.parser.quotedRegexColumnNames": "true"},
    "e0": {"spark.sql.legacy.exponentLiteralAsDecimal.enabled": "true"},
    "/": {"spark.sql.legacy.literal.pickMinimumPrecision": "false"},
    " timestamp'": {"spark.sql.timestampType": "TIMESTAMP_NTZ"},
    "> 1": {"spark.sql.ansi.enabled": "false"},
}
# Settings that change the values of foreign Parquet files, by key.
READINGS: dict[str, list[Settings]] = {
    "d_k_date": [{"spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY"}],
    "d_k_ts": [
        {"spark.sql.parquet.int96TimestampConversion": "true"},
        {"spark.sql.parquet.int96RebaseModeInRead": "LEGACY"},
    ],
}
MINUTE = 60


class FormatRefusedError(Exception):
    """A format does not take the drawn values, such as the ends of a type."""


TODAY = [
    "d_d < date'today'",
    "d_d <= DATE 'yesterday'",
    "d_d < date'tomorrow'",
    "d_d<date/**/'today'",
    "d_d BETWEEN date'epoch' AND date'today'",
    "d_n < timestamp_ntz'today'",
    "d_n >= timestamp_ntz'today'",
    "d_t < timestamp'today'",
]
TEXTS = [
    "d_v > 2",
    "d_v > 2 AND d_s <> '4'",
    "d_v IN (1, 2, 5)",
    "d_d >= date'2024-03-01'",
    "d_t < timestamp'2024-03-10 02:30:00'",
    "d_n < timestamp'2024-03-10 02:30:00'",
    "d_s <> 'now'",
    r"d_s RLIKE '^\\d$'",
    r"d_s RLIKE '^\d$'",
    r"d_s <> '\u0031'",
    r"d_s > '\u0031'",
    r"d_s IN ('1', '\063', '\u0034')",
    r"d_s NOT LIKE '\_'",
    r"NOT d_s RLIKE '^[\\d]$' OR d_v > 4",
    r"d_s LIKE '\\%' OR d_v > 1",
    'd_s <> "1"',
    "`d_v` > 2",
    "upper(d_s) <> 'A'",
    "d_v > 1e0",
    "d_v / 2 > 1",
    "CAST(d_v AS STRING) <> '1'",
    "d_s > 1",
]


def wheres(today: bool) -> list[list[str]]:
    """Conditions of a filter, each with the predicate of a query that implies it.

    Args:
        today: Whether the conditions name a day that is another one tomorrow.
    """
    nested = ["(" * 800 + "d_v > 2" + ")" * 800, "d_v > 2"]
    return [[text, text] for text in TODAY] if today else [*([text, text] for text in TEXTS), nested]


def meanings_of(where: str) -> list[Settings]:
    """Settings that may change the meaning of a condition."""
    return [settings for sign, settings in MEANINGS.items() if sign in where]


def readings_of(build: dict[str, Any]) -> list[Settings]:
    """Settings that may change the values of a filter's keys."""
    keys = build["keys"] if build["format"] == "foreign" else []
    return [settings for key in keys for settings in READINGS.get(key, [])]


def name_of(table: Table) -> str:
    """The table name of a dimension."""
    return "dim_" + hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:16]


@contextlib.contextmanager
def jvm_zone(spark: SparkSession, zone: str | None) -> Iterator[None]:
    """Set the JVM's default time zone within a block, as if it was started there."""
    if not zone:
        yield
        return
    zones = spark._jvm.java.util.TimeZone
    before = zones.getDefault()
    zones.setDefault(zones.getTimeZone(zone.replace("+8:00", "GMT+8:00")))
    try:
        yield
    finally:
        zones.setDefault(before)


class Build:
    """The files of a dimension, and the store.

    Args:
        spark: A classic session.
        folder: The folder for the files of all dimensions.
        table: The dimension, with an entry "build".
        spec: The artifact.
    """

    def __init__(self, spark: SparkSession, folder: Path, table: Table, spec: BloomFilterSpec | RangeIndexSpec) -> None:
        self.spark, self.table, self.build = spark, table, table["build"]
        self.name = name_of(table)
        self.request = ArtifactRequest.of_table(self.name, spec)
        self.folder = folder / self.name
        self.source = self.folder / "source"
        self.store = self.folder / "store"

    def make(self) -> None:
        """Write the files, refresh the artifact, and do the damage that is asked for. Later calls do nothing."""
        if self.folder.exists():
            return
        self.folder.mkdir()
        self._write()
        with jvm_zone(self.spark, self.build.get("zone")), settings(self.spark, self.build.get("session", {})):
            if "unreadable" in self.build:
                self._refresh_unreadable()
            else:
                self._refresh()
            if "appended" in self.build:
                self._append()
        if self.build.get("lost"):
            self._files()[0].unlink()
            self.spark.catalog.refreshTable(self.name)
        if "damage" in self.build:
            for versions in self.store.glob(f"{self.request.kind}/*/*/versions"):
                if any(versions.iterdir()):  # otherwise the job refused the artifact
                    DAMAGES[self.build["damage"]](versions.parent)

    def _write(self) -> None:
        plain = self.folder / "plain"
        kind = self.build.get("format", "foreign")
        if kind == "foreign":
            write(self.table, self.source, use_deprecated_int96_timestamps=True)
            kind = "parquet"
        else:
            write(self.table, plain)
            try:
                with jvm_zone(self.spark, self.build.get("zone")):
                    self.spark.read.parquet(str(plain)).write.format(kind).save(str(self.source))
            except PySparkException as error:
                raise FormatRefusedError(f"{kind}: {error}") from error
        for file in self._files():
            os.utime(file, (file.stat().st_mtime - MINUTE,) * 2)
        schema = ", ".join(f"{name} {described['type']}" for name, described in self.table["columns"].items())
        self.spark.sql(f"CREATE TABLE {self.name} ({schema}) USING {kind} LOCATION '{self.source}'")

    def _refusals(self) -> tuple[type[Exception], ...]:
        """Errors that the case lets a refresh raise. Others may be a defect of the job."""
        unreadable = (Py4JJavaError, PySparkException) if "unreadable" in self.build else ()
        return (ColumnUnusableError, *unreadable) if "where" in self.build else unreadable

    def _files(self) -> list[Path]:
        return sorted(file for file in self.source.iterdir() if not file.name.startswith(("_", ".")))

    def _refresh(self) -> None:
        # a job that refuses an artifact leaves a store without one
        with contextlib.suppress(*self._refusals()):
            refresh_artifact(self.spark, self.request, open_store(self.spark, str(self.store)), schema=None)

    def _refresh_unreadable(self) -> None:
        """Refresh while one file cannot be read. The file has the same length and time before and after."""
        file, at = self._files()[0], self._files()[0].stat()
        content, build = file.read_bytes(), runner._build

        def hidden(*arguments: object) -> object:
            # the file is only gone while its rows are read, between two listings
            file.unlink()
            try:
                return build(*arguments)  # type: ignore[arg-type]
            finally:
                file.write_bytes(content)
                os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))

        if self.build["unreadable"] == "missing":
            runner._build = hidden  # type: ignore[assignment]
        else:
            file.write_bytes(b"#" * len(content))
            os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))
        try:
            self._refresh()
        finally:
            runner._build = build
            file.write_bytes(content)
            os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))

    def _append(self) -> None:
        more = self.folder / "more"
        rows = self.table["rows"] // self.build.get("appended one in", 1)
        write({**self.table, "seed": self.table["seed"] + 17, "rows": rows, "only": None, "files": 1}, more)
        try:
            self.spark.read.parquet(str(more)).write.insertInto(self.name)
        except (Py4JJavaError, PySparkException) as error:
            raise FormatRefusedError(f"{self.build.get('format')}: {error}") from error
        for file in self._files():
            if file.stat().st_mtime > self.folder.stat().st_mtime - 1:
                shutil.copystat(self._files()[0], file)
        if self.build["appended"] == "refreshed":
            self._refresh()
