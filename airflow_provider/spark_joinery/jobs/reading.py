"""Settings of Spark that change how the same files are read: as other values, or not at all.

`store/reading_settings.json` lists them. The jar reads the list, too: it uses no bloom filter or range index that was
built with other settings.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, Concatenate, ParamSpec, TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import DataFrameReader, SparkSession

from spark_joinery.jobs.held_settings import held_settings

P = ParamSpec("P")
R = TypeVar("R")

# Options that let Spark skip files that it cannot read. It would then be unknown which files an artifact covers.
SKIPPING = ("ignoreCorruptFiles", "ignoreMissingFiles")


@functools.cache
def listed_settings() -> list[dict[str, Any]]:
    """The listed settings. The jar's `ReadingSettings.Setting` describes their fields."""
    text = resources.files("spark_joinery.store").joinpath("reading_settings.json").read_text(encoding="utf-8")
    settings: list[dict[str, Any]] = json.loads(text)["settings"]
    return settings


def reading_settings(spark: SparkSession) -> dict[str, str | None]:
    """The values of the listed settings in a session, to be stored with artifacts that are built in it.

    Args:
        spark: A session, classic or Spark Connect.

    Returns:
        Values by key; None where Spark has no such setting.
    """
    return {key: _value(spark, key) for key in sorted({setting["key"] for setting in listed_settings()})}


def changed_setting(version: Mapping[str, Any], now: Mapping[str, str | None]) -> str | None:
    """Find a setting that has changed, so that rows may now be read differently from when a version was built.

    Args:
        version: The version's description.
        now: The settings as they are.

    Returns:
        The first setting that matters to the version and has changed, with both values; None if there is none.
    """
    before = version.get("settings")
    if not isinstance(before, Mapping):
        return "it does not say by which settings its source was read"
    for setting in listed_settings():
        key = setting["key"]
        if not _matters(setting, version):
            continue
        if key not in before:
            return f"it does not say what {key} was"
        was, is_now = (values[key] if values[key] is not None else setting["default"] for values in (before, now))
        if str(was).lower() != str(is_now).lower():
            return f"{key} was {was}, and is {is_now} now"
    return None


# Settings of every job, regardless of its session: no file is skipped, and timestamps are stored to the microsecond.
_LOSSLESS = {
    **{f"spark.sql.files.{name}": "false" for name in SKIPPING},
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


def reads_whole_files(
    job: Callable[Concatenate[SparkSession, P], R],
) -> Callable[Concatenate[SparkSession, P], R]:
    """Make a job read and store everything or fail, regardless of the session's settings.

    It fails at files that it cannot read, and it stores timestamps to the microsecond.

    Args:
        job: The job; its first argument is a session.

    Returns:
        The same job. The session gets its own settings back when this job and all others that run in it are done.
    """

    @functools.wraps(job)
    def whole(spark: SparkSession, /, *arguments: P.args, **named: P.kwargs) -> R:
        with held_settings(spark, _LOSSLESS):
            return job(spark, *arguments, **named)

    return whole


def strict_reader(spark: SparkSession) -> DataFrameReader:
    """Make a reader that fails at files that it cannot read, regardless of the session's settings.

    Args:
        spark: A session.

    Returns:
        The reader, for relations of files that have no such option of their own.
    """
    reader = spark.read
    for name in SKIPPING:
        reader = reader.option(name, "false")
    return reader


def skipping_option(options: str) -> str | None:
    """Find an option of a table that lets Spark skip files that it cannot read.

    Args:
        options: Options as in a source's description: "header=true,ignorecorruptfiles=true".

    Returns:
        Its name; None if there is none.
    """
    named = dict(option.lower().split("=", 1) for option in options.split(",") if "=" in option)
    return next((name for name in SKIPPING if named.get(name.lower()) == "true"), None)


def _value(spark: SparkSession, key: str) -> str | None:
    if key == "user.timezone":
        return _jvm_time_zone(spark)
    if key == "spark-major-version":
        return spark.version.partition(".")[0]
    names = (key,) if key.startswith("spark.") else (key, f"spark.hadoop.{key}")
    return next((value for name in names if (value := _setting(spark, name)) is not None), None)


def _setting(spark: SparkSession, key: str) -> str | None:
    """A setting, or Spark's own default of it; None where Spark has no such setting.

    Spark knows the settings that are modifiable. They are read without a default, which would hide Spark's own. Other
    settings are read with a default: without one, Spark raises an error, which a server of Spark Connect logs with its
    stack trace.
    """
    value = spark.conf.get(key) if spark.conf.isModifiable(key) else spark.conf.get(key, None)
    return None if value is None else str(value)


def _jvm_time_zone(spark: SparkSession) -> str | None:
    try:
        return str(spark.sql("SELECT java_method('java.time.ZoneId', 'systemDefault')").collect()[0][0])
    except PySparkException:
        spark.conf.get("spark.sql.session.timeZone")  # fails, too, where the connection is gone
        return None  # a server that allows no such call


def _matters(setting: Mapping[str, Any], version: Mapping[str, Any]) -> bool:
    spec, source = version.get("spec") or {}, version.get("source") or {}
    has_where = bool(spec.get("where"))
    if "where" in setting:
        return has_where
    before = version["settings"]
    for key, value in setting.get("when", {}).items():
        if str(before.get(key)).lower() != value:
            return False
    if source.get("provider") not in setting["formats"]:
        return False
    types: set[str] = set()
    for name, data_type, *_ in source.get("schema", []):
        if has_where or name.lower() in _columns(spec):
            types.update(re.split(r"[^A-Za-z0-9_]+", data_type))
    return "types" not in setting or not types.isdisjoint(setting["types"])


def _columns(spec: Mapping[str, Any]) -> set[str]:
    """All columns that a specification names, in lower case."""
    lists = [spec.get(name) or [] for name in ("keys", "partition_by", "columns")]
    single = [spec[name] for name in ("order_by", "start", "end", "point") if spec.get(name)]
    return {name.lower() for names in [*lists, single] for name in names}
