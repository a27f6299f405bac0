"""Files come, go and grow while a refresh opens its source. Files that may not have been read are not covered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from spark_joinery.jobs import RefreshResult, refresh_artifact, runner, source
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, RangeIndexSpec, Spec
from spark_joinery.store import ArtifactStore, ArtifactVersion
from support.refreshing import write

SPECS: list[Spec] = [BloomFilterSpec(keys=["ts"]), RangeIndexSpec(point="ts")]


@pytest.fixture(params=SPECS, ids=lambda spec: type(spec).__name__)
def request_of(request: pytest.FixtureRequest) -> Callable[[str], ArtifactRequest]:
    """A function that makes the request for an artifact of a relation."""
    return lambda relation: ArtifactRequest.of_table(relation, request.param)


@pytest.fixture
def around_listing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that sets actions to run just before the first listing of a refresh, and just after it."""
    listed = source.list_settled

    def patch(before: Callable[[], object], after: Callable[[], object]) -> None:
        def list_between(*arguments: Any) -> Any:
            monkeypatch.undo()
            before()
            listing = listed(*arguments)
            after()
            return listing

        monkeypatch.setattr(source, "list_settled", list_between)

    return patch


def published(
    spark: SparkSession, store: ArtifactStore, request: ArtifactRequest
) -> tuple[RefreshResult, ArtifactVersion]:
    """Refresh, and return the result with the published version."""
    result = refresh_artifact(spark, request, store, schema=None)
    version = store.current(request.kind, request.relation, request.spec_hash).version
    assert version is not None
    return result, version


def nothing() -> None:
    """Change nothing."""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_file_that_grows(
    spark: SparkSession,
    store: ArtifactStore,
    tmp_path: Path,
    request_of: Callable[[str], ArtifactRequest],
    around_listing: Callable[..., None],
    when: str,
) -> None:
    """Spark reads no more of a file than the length at the time when Spark listed it."""
    file = tmp_path / "source" / "a.csv"
    file.parent.mkdir()
    file.write_text("".join(f"{i}\n" for i in range(20)))
    spark.sql(f"CREATE TABLE growing (ts BIGINT) USING csv LOCATION '{file.parent}'")

    def grow() -> None:
        file.write_text(file.read_text() + "".join(f"{i}\n" for i in range(20, 40)))

    try:
        around_listing(*((grow, nothing) if when == "before" else (nothing, grow)))
        result, version = published(spark, store, request_of("growing"))
        assert result.rows == 40 or not version.fingerprint["files"]
        result, version = published(spark, store, request_of("growing"))
        assert (result.rows, len(version.fingerprint["files"]), version.fingerprint["uncovered"]) == (40, 1, 0)
    finally:
        spark.sql("DROP TABLE growing")


@pytest.mark.parametrize("mode", ["full", "incremental"])
def test_a_file_that_is_away_when_the_source_is_listed(
    spark: SparkSession,
    store: ArtifactStore,
    tmp_path: Path,
    request_of: Callable[[str], ArtifactRequest],
    around_listing: Callable[..., None],
    mode: str,
) -> None:
    """The file seems deleted, and then written. The next refresh takes it for a new file, and reads its rows once."""
    folder = tmp_path / "source"
    request = request_of(f"parquet.`{folder}`")
    write(spark, folder, "range(2000)")
    if mode == "incremental":
        published(spark, store, request)
    away = tmp_path / "away"
    before = set(folder.glob("*.parquet"))
    write(spark, folder, "range(2000, 2100)")
    (file,) = set(folder.glob("*.parquet")) - before
    write(spark, folder, "range(2100, 2200)")
    around_listing(lambda: file.rename(away), lambda: away.rename(file))
    for expected_mode, rows, files in ((mode, 2100, 2), ("incremental", 2200, 3)):
        result, version = published(spark, store, request)
        found = (result.mode, result.rows, len(version.fingerprint["files"]), version.fingerprint["uncovered"])
        assert found == (expected_mode, rows, files, 0)


@pytest.mark.parametrize("relation", ["path", "table", "partitioned"])
def test_a_file_that_comes_at_every_refresh_before_the_source_is_read(
    spark: SparkSession,
    store: ArtifactStore,
    tmp_path: Path,
    request_of: Callable[[str], ArtifactRequest],
    around_listing: Callable[..., None],
    relation: str,
) -> None:
    """The file is left for the next refresh, or a busy source would never be covered."""
    folder = tmp_path / "the source"
    part = folder / "d=1" if relation == "partitioned" else folder
    write(spark, part, "range(1000)")
    request = request_of("busy" if relation != "path" else f"parquet.`{folder}`")
    spark.sql(
        f"CREATE TABLE busy (k BIGINT, ts BIGINT, d INT) USING parquet LOCATION '{folder}'"
        + (" PARTITIONED BY (d)" if relation == "partitioned" else "")
    )
    try:
        if relation == "partitioned":
            spark.sql("ALTER TABLE busy ADD PARTITION (d = 1)")
        for round_, mode in enumerate(["full", "incremental", "incremental"]):
            start = 1000 + 100 * round_
            around_listing(nothing, lambda start=start: write(spark, part, f"range({start}, {start + 100})"))
            result, version = published(spark, store, request)
            found = (result.mode, result.rows, len(version.fingerprint["files"]), version.fingerprint["uncovered"])
            assert found == (mode, start, round_ + 1, 0)
    finally:
        spark.sql("DROP TABLE busy")


@pytest.mark.parametrize("mode", ["full", "incremental"])
def test_rows_that_the_session_itself_writes_meanwhile(
    spark: SparkSession,
    store: ArtifactStore,
    request_of: Callable[[str], ArtifactRequest],
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
) -> None:
    """An INSERT makes DataFrames that have yet to read the table list its files again."""
    spark.sql("CREATE TABLE written (ts BIGINT) USING parquet")
    build = runner._build

    def insert_and_build(*arguments: Any) -> Any:
        monkeypatch.undo()
        spark.sql("INSERT INTO written SELECT id FROM range(1000, 1010)")
        return build(*arguments)

    try:
        spark.sql("INSERT INTO written SELECT id FROM range(0, 900, 1, 1)")
        if mode == "incremental":
            published(spark, store, request_of("written"))
            spark.sql("INSERT INTO written SELECT id FROM range(900, 1000, 1, 1)")
        monkeypatch.setattr(runner, "_build", insert_and_build)
        result, version = published(spark, store, request_of("written"))
        assert result.mode == mode
        extra = (result.rows or 0) - (900 if mode == "full" else 1000)
        assert extra == 0 or version.fingerprint["uncovered"] > 0
        if mode == "incremental":
            assert (extra, version.fingerprint["uncovered"]) == (0, 0)
        result, version = published(spark, store, request_of("written"))
        assert result.rows == (910 if mode == "full" else 1010)
        assert version.fingerprint["uncovered"] == 0
    finally:
        spark.sql("DROP TABLE written")
