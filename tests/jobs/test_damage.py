"""Published artifacts that are damaged, or cannot be read for a moment."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from spark_joinery.jobs import refresh, refresh_artifact
from spark_joinery.metadata import ArtifactRequest
from spark_joinery.store import ArtifactStore
from support.refreshing import redescribe, write


def test_a_filter_that_cannot_be_proven_complete_is_built_anew(
    spark: SparkSession, kinds: dict[str, ArtifactRequest], store: ArtifactStore, tmp_path: Path
) -> None:
    """Older releases did not store the number of filled blocks."""
    request = kinds["bloom_filter"]
    write(spark, tmp_path / "a source", "range(100)")
    assert refresh_artifact(spark, request, store, schema=None).mode == "full"
    redescribe(store, request, lambda description: description.pop("filled_blocks"))
    result = refresh_artifact(spark, request, store, schema=None)
    reason = "an older release built it, and it cannot be proven complete"
    assert (result.status, result.mode, result.reason) == ("refreshed", "full", reason)
    assert refresh_artifact(spark, request, store, schema=None).status == "unchanged"


def spoil(version: Path, damage: str) -> None:
    """Damage the version that was published last."""
    current = version.parents[1] / "_current.json"
    match damage:
        case "empty pointer":
            current.write_text("")
        case "garbage":
            current.write_bytes(b"\0" * 99)
        case "giant pointer":
            current.write_text(current.read_text() + " " * 70_000)
        case "gone":
            shutil.rmtree(version)
        case "truncated":
            (data,) = (version / "data").rglob("*.parquet")
            data.write_bytes(data.read_bytes()[:-9])
        case "description":
            (version / "version.json").write_text("{}")


@pytest.mark.parametrize("versions", [1, 2])
@pytest.mark.parametrize("damage", ["empty pointer", "garbage", "giant pointer", "gone", "truncated", "description"])
def test_the_next_refresh_heals_what_is_damaged(
    spark: SparkSession,
    kinds: dict[str, ArtifactRequest],
    store: ArtifactStore,
    tmp_path: Path,
    damage: str,
    versions: int,
) -> None:
    """The refresh rebuilds even if an older version is whole and covers the current source."""
    request = kinds["bloom_filter"]
    write(spark, tmp_path / "a source", "range(100)")
    for _ in range(versions):
        name = refresh_artifact(spark, request, store, schema=None, full_refresh=True).version
    artifact = store.current(request.kind, request.relation, request.spec_hash).version
    assert artifact is not None
    spoil(Path(artifact.path.removeprefix("file:")), damage)
    result = refresh_artifact(spark, request, store, schema=None)
    assert (result.status, result.mode) == ("refreshed", "full")
    assert str(result.reason).startswith("what was published last cannot be used (")
    assert result.was_damaged
    lookup = store.current(request.kind, request.relation, request.spec_hash)
    assert (lookup.damaged, lookup.version and lookup.version.name) == (False, result.version)
    assert name != result.version
    assert refresh_artifact(spark, request, store, schema=None).status == "unchanged"


@pytest.mark.parametrize("method", ["read", "sha256", "status"])
def test_what_cannot_be_read_for_a_moment_is_not_built_anew(
    spark: SparkSession,
    kinds: dict[str, ArtifactRequest],
    store: ArtifactStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
) -> None:
    request = kinds["bloom_filter"]
    write(spark, tmp_path / "a source", "range(100)")
    first = refresh_artifact(spark, request, store, schema=None).version

    asked = getattr(store.filesystem, method)

    def refuse(path: str, *rest: Any) -> Any:
        if path.startswith(store.root):
            raise OSError("SlowDown: Please reduce your request rate")
        return asked(path, *rest)

    with monkeypatch.context() as busy:
        busy.setattr(store.filesystem, method, refuse)
        (result,) = refresh(spark, [request], store, schema=None)
        if method == "read":  # a full refresh does not need the last version
            anew = refresh_artifact(spark, request, store, schema=None, full_refresh=True)
            assert (anew.status, anew.was_damaged) == ("refreshed", False)
            first = anew.version
    assert (result.status, result.retryable, result.was_damaged) == ("failed", True, False)
    assert "SlowDown" in str(result.reason)
    again = refresh_artifact(spark, request, store, schema=None)
    assert (again.status, again.version) == ("unchanged", first)
