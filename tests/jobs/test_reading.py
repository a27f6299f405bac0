"""Settings that change the rows Spark reads from a source are kept with the artifact, or switched off for the build."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from pyspark.sql import SparkSession
from spark_joinery.jobs import refresh, refresh_artifact, runner
from spark_joinery.jobs.builders.built import resolve
from spark_joinery.jobs.reading import (
    SKIPPING,
    changed_setting,
    listed_settings,
    reading_settings,
    reads_whole_files,
)
from spark_joinery.jobs.source import open_source
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, RangeIndexSpec, Spec
from spark_joinery.store import ArtifactStore, HadoopFileSystem

SPECS: list[Spec] = [
    BloomFilterSpec(keys=["k"]),
    DistributionSpec(partition_by=["k"], order_by="t"),
    RangeIndexSpec(point="k"),
]


@contextmanager
def settings(spark: SparkSession, **values: str) -> Iterator[None]:
    keys = {key.replace("__", "."): value for key, value in values.items()}
    try:
        for key, value in keys.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key in keys:
            spark.conf.unset(key)


@pytest.fixture
def source(spark: SparkSession, tmp_path: Path) -> Path:
    """Three files of twenty rows."""
    folder = tmp_path / "source"
    rows = spark.range(0, 60, 1, 3).selectExpr("id k", "timestamp_seconds(id) t", "string(id) s")
    rows.write.parquet(str(folder))
    return folder


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: type(spec).__name__)
@pytest.mark.parametrize("skipping", SKIPPING)
def test_no_file_is_passed_over(
    spark: SparkSession,
    store: ArtifactStore,
    source: Path,
    spec: Spec,
    skipping: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If Spark skipped an unreadable file, its rows would count as covered."""
    file = sorted(source.glob("*.parquet"))[1]
    build = runner._build

    def build_without_file(*arguments: object) -> object:
        elsewhere = file.rename(file.with_suffix(".elsewhere"))
        try:
            return build(*arguments)  # type: ignore[arg-type]
        finally:
            elsewhere.rename(file)

    if skipping == "ignoreCorruptFiles":
        file.write_bytes(b"PAR1 no longer")
        file.with_name(f".{file.name}.crc").unlink()
    else:
        monkeypatch.setattr(runner, "_build", build_without_file)
    with settings(spark, **{f"spark.sql.files.{skipping}": "true"}):
        (result,) = refresh(spark, [ArtifactRequest.of_table(f"parquet.`{source}`", spec)], store, schema=None)
        assert spark.conf.get(f"spark.sql.files.{skipping}") == "true"
    assert result.status == "failed", result


@pytest.mark.parametrize("of_user", ["true", "false", None])
def test_jobs_at_once_in_one_session_give_it_its_settings_back(spark: SparkSession, of_user: str | None) -> None:
    """The second job must not mistake the first job's settings for the user's, or lose its own when the first ends."""
    key = "spark.sql.files.ignoreCorruptFiles"
    first_has_begun, second_has_begun = Event(), Event()

    @reads_whole_files
    def first(spark: SparkSession) -> str | None:
        first_has_begun.set()
        second_has_begun.wait(60)
        return spark.conf.get(key)

    @reads_whole_files
    def second(spark: SparkSession, of_first: Callable[[], str | None]) -> tuple[str | None, str | None]:
        second_has_begun.set()
        return of_first(), spark.conf.get(key)

    # another Python object for the same session of the JVM, as `DataFrame.sparkSession` may be
    same = SparkSession(spark.sparkContext, spark._jsparkSession)  # type: ignore[arg-type]
    other = spark.newSession()
    other.conf.set(key, "true")
    with settings(spark, **({key: of_user} if of_user else {})), ThreadPoolExecutor(1) as threads:
        running = threads.submit(first, spark)
        first_has_begun.wait(60)
        # the first job ends while the second still runs
        assert second(same, running.result) == ("false", "false")
        assert spark.conf.get(key, None) == of_user
    assert other.conf.get(key) == "true"


def test_a_build_leaves_no_setting_behind(spark: SparkSession, store: ArtifactStore, source: Path) -> None:
    keys = ("spark.sql.objectHashAggregate.sortBased.fallbackThreshold", "spark.sql.parquet.outputTimestampType")
    request = ArtifactRequest.of_table(f"parquet.`{source}`", DistributionSpec(partition_by=["k"], order_by="t"))
    untouched = spark.newSession()
    before = [untouched.conf.get(key, None) for key in keys]
    assert refresh_artifact(untouched, request, store, schema=None).status == "refreshed"
    assert [untouched.conf.get(key, None) for key in keys] == before


@pytest.mark.parametrize("is_table", [True, False])
def test_a_source_is_read_whole_whatever_the_session_says_meanwhile(
    spark: SparkSession, source: Path, is_table: bool
) -> None:
    """Another user may change the session while a job runs. That only affects queries of that user."""
    file = sorted(source.glob("*.parquet"))[1]
    spark.sql(f"CREATE TABLE damaged (k BIGINT, t TIMESTAMP) USING parquet LOCATION '{source}'")
    name = "damaged" if is_table else f"parquet.`{source}`"
    request = ArtifactRequest.of_table(name, BloomFilterSpec(keys=["k"]))
    try:
        opened = open_source(spark, request, HadoopFileSystem.of_session(spark))
        assert opened is not None
        file.write_bytes(b"PAR1 no longer")
        file.with_name(f".{file.name}.crc").unlink()
        with settings(spark, **{"spark.sql.files.ignoreCorruptFiles": "true"}):
            with pytest.raises(Exception, match="FAILED_READ_FILE"):
                opened.frame.select("k").collect()
            assert spark.table(name).select("k").count() == 40
    finally:
        spark.sql("DROP TABLE damaged")


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: type(spec).__name__)
@pytest.mark.parametrize("skipping", SKIPPING)
def test_a_table_that_asks_for_it_is_refused(
    spark: SparkSession, store: ArtifactStore, source: Path, spec: Spec, skipping: str
) -> None:
    spark.sql(
        f"CREATE TABLE skipping (k BIGINT, t TIMESTAMP) USING parquet OPTIONS ({skipping} 'TRUE', path '{source}')"
    )
    try:
        (result,) = refresh(spark, [ArtifactRequest.of_table("skipping", spec)], store, schema=None)
    finally:
        spark.sql("DROP TABLE skipping")
    assert result.status == "failed"
    assert f"has the option {skipping}, by which Spark skips files" in str(result.reason)


def test_the_settings_are_kept_and_a_change_that_matters_reads_all_again(
    spark: SparkSession, store: ArtifactStore, source: Path
) -> None:
    request = ArtifactRequest.of_table(f"parquet.`{source}`", BloomFilterSpec(keys=["t"]))
    assert refresh_artifact(spark, request, store, schema=None).mode == "full"
    version = store.current("bloom_filter", request.relation, request.spec_hash).version
    assert version is not None
    kept = version.description["settings"]
    assert kept == reading_settings(spark)
    assert kept["spark.sql.session.timeZone"] == "UTC"
    assert kept["user.timezone"]
    assert {setting["key"] for setting in listed_settings()} == set(kept)
    with settings(spark, spark__sql__ansi__enabled="false", spark__sql__session__timeZone="Asia/Tokyo"):
        assert refresh_artifact(spark, request, store, schema=None).status == "unchanged"
    with settings(spark, **{"spark.sql.parquet.int96RebaseModeInRead": "LEGACY"}):
        again = refresh_artifact(spark, request, store, schema=None)
    assert again.mode == "full"
    assert "spark.sql.parquet.int96RebaseModeInRead was CORRECTED, and is LEGACY now" in str(again.reason)
    spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_which_settings_matter() -> None:
    now = {setting["key"]: setting["default"] for setting in listed_settings()}
    version = {
        "settings": now,
        "source": {"provider": "parquet", "schema": [["k", "bigint"], ["d", "date"]]},
        "spec": {"keys": ["K"]},
    }
    rebase = {**now, "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY"}
    ansi = {**now, "spark.sql.ansi.enabled": "FALSE"}
    assert changed_setting(version, now) is None
    assert changed_setting(version, rebase) is None
    assert changed_setting(version, {**now, "spark.sql.ansi.enabled": "TRUE"}) is None
    assert "LEGACY" in str(changed_setting({**version, "spec": {"keys": ["d"]}}, rebase))
    assert "LEGACY" in str(changed_setting({**version, "spec": {"keys": ["k"], "where": "d IS NULL"}}, rebase))
    assert changed_setting(version, ansi) is None
    assert "ansi" in str(changed_setting({**version, "spec": {"keys": ["k"], "where": "k > 1"}}, ansi))
    zone = {**now, "spark.sql.session.timeZone": "Asia/Tokyo"}
    stamped = {**version, "source": {"provider": "parquet", "schema": [["k", "timestamp"]]}}
    assert changed_setting(stamped, zone) is None
    converted = {**now, "spark.sql.parquet.int96TimestampConversion": "true"}
    zone_too = {**converted, "spark.sql.session.timeZone": "Asia/Tokyo"}
    assert "timeZone" in str(changed_setting({**stamped, "settings": converted}, zone_too))
    assert "does not say by which settings" in str(changed_setting({"spec": {}}, now))
    without = {key: value for key, value in now.items() if key != "spark.sql.caseSensitive"}
    assert "does not say what spark.sql.caseSensitive" in str(changed_setting({**version, "settings": without}, now))


@pytest.mark.parametrize(
    ("name", "options", "setting", "spec", "reason"),
    [
        ("_corrupt_record", "", None, {"where": "_CORRUPT_record IS NULL"}, "`where: _CORRUPT_record IS NULL` reads"),
        ("_corrupt_record", "", None, {"keys": ["k", "_corrupt_record"]}, "the key '_corrupt_record' reads"),
        ("bad", "OPTIONS (columnNameOfCorruptRecord 'bad')", None, {"where": "bad IS NULL"}, "`where: bad IS NULL`"),
        ("bad", "", "bad", {"where": "length(bad) > 1"}, r"`where: length\(bad\) > 1` reads 'bad', which has the text"),
        ("bad", "", None, {"where": "bad IS NULL"}, None),
        ("_corrupt_record", "", None, {"where": "v <> 1 /* _corrupt_record */"}, None),
    ],
)
def test_filter_about_corrupt_records_is_refused(
    spark: SparkSession,
    store: ArtifactStore,
    tmp_path: Path,
    name: str,
    options: str,
    setting: str | None,
    spec: dict[str, Any],
    reason: str | None,
) -> None:
    """The malformed rows depend on the columns that are read."""
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "rows.csv").write_text("1,1\n2,x\n")
    spark.sql(f"CREATE TABLE text (k INT, v INT, {name} STRING) USING csv {options} LOCATION '{tmp_path / 'text'}'")
    request = ArtifactRequest.of_table("text", BloomFilterSpec(**{"keys": ["k"], **spec}))
    try:
        with settings(spark, **({"spark.sql.columnNameOfCorruptRecord": setting} if setting else {})):
            (result,) = refresh(spark, [request], store, schema=None)
    finally:
        spark.sql("DROP TABLE text")
    assert result.status == ("failed" if reason else "refreshed"), result
    assert re.search(reason or "^$", result.reason or "")
    assert result.retryable is (False if reason else None)


def test_case_of_columns_counts_however_the_setting_is_spelt(spark: SparkSession) -> None:
    with settings(spark, **{"spark.sql.caseSensitive": "TRUE"}):
        assert resolve(spark.range(1).selectExpr("id k", "id K"), ["k", "K"], "raw.t") == ["k", "K"]
