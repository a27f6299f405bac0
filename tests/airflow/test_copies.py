"""A manifest that cannot be read for a moment, and the copies that stand in for it."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.io import attach
from airflow.sdk.io.store import _STORE_CACHE
from fsspec import register_implementation
from fsspec.implementations.local import LocalFileSystem
from spark_joinery.airflow.declared import declared
from spark_joinery.metadata import ManifestFormatError, ManifestNotReadableError, read_manifest

pytestmark = pytest.mark.airflow


class ExpiredTokenError(Exception):
    """An error that is neither OSError nor ValueError, like those of botocore, google-auth and azure-core."""


class LostStore(LocalFileSystem):  # type: ignore[misc]
    """An object store whose reads raise `failure`, if it is set."""

    protocol = "lost"
    cachable = False
    failure: Exception | None = None

    def info(self, path: str, **options: Any) -> Any:
        if self.failure:
            raise self.failure
        return super().info(path, **options)

    def _open(self, path: str, *arguments: Any, **options: Any) -> Any:
        if self.failure:
            raise self.failure
        return super()._open(path, *arguments, **options)


@pytest.fixture
def store() -> Iterator[type[LostStore]]:
    register_implementation("lost", LostStore, clobber=True)
    attach("lost", fs=LostStore())
    yield LostStore
    LostStore.failure = None
    del _STORE_CACHE["lost"]


@pytest.fixture
def copies(manifest: Path) -> Path:
    """The folder of copies."""
    return Path(os.environ["AIRFLOW_HOME"]) / "joinery" / "manifests"


@pytest.fixture
def dag_file(tmp_path: Path) -> Path:
    (tmp_path / "dags").mkdir()
    return tmp_path / "dags" / "nightly.py"


def parse(dag_file: Path, manifest: Path | str) -> tuple[set[str], str]:
    """Parse a DAG file as Airflow does; returns the tasks of its DAG, and its import error."""
    from support.dags import DagBag

    dag_file.write_text(
        "from spark_joinery.airflow.dags import joinery_refresh_dag\n"
        f"dag = joinery_refresh_dag({str(manifest)!r}, dag_id='nightly')\n"
    )
    bag = DagBag(dag_file.parent)
    tasks = {task for dag in bag.dags.values() for task in dag.task_ids}
    return tasks, "".join(bag.import_errors.values())


@pytest.mark.parametrize(
    "failure",
    [
        ExpiredTokenError("The security token has expired"),
        ConnectionError("Could not connect to the endpoint"),
        PermissionError("Access Denied"),
        ImportError("Install s3fs to access S3"),
        RuntimeError("Event loop is closed"),
        TimeoutError(),
        ValueError("Invalid endpoint"),
    ],
    ids=repr,
)
def test_a_store_that_fails_for_a_moment_keeps_the_dag(
    airflow_home: Path,
    manifest: Path,
    dag_file: Path,
    store: type[LostStore],
    failure: Exception,
    caplog: pytest.LogCaptureFixture,
) -> None:
    first, error = parse(dag_file, f"lost://{manifest}")
    assert (len(first), error) == (4, ""), error
    store.failure = failure
    with caplog.at_level(logging.ERROR):
        assert parse(dag_file, f"lost://{manifest}") == (first, "")
    (line,) = {message for message in caplog.messages if "Used in its place" in message}
    assert f"{manifest}: cannot be read: {failure or 'TimeoutError'}" in line


def test_a_store_that_fails_without_a_copy_is_an_import_error(
    airflow_home: Path, manifest: Path, dag_file: Path, store: type[LostStore]
) -> None:
    store.failure = ExpiredTokenError("The security token has expired")
    tasks, error = parse(dag_file, f"lost://{manifest}")
    assert not tasks
    assert f"{ManifestNotReadableError.__name__}: lost://{manifest}: cannot be read: The security token has" in error


@pytest.mark.parametrize("uri", ["unheard-of://bucket/manifest.json", "file://no_such_connection@/manifest.json"])
def test_a_uri_that_nothing_reads_is_an_import_error(airflow_home: Path, dag_file: Path, uri: str) -> None:
    tasks, error = parse(dag_file, uri)
    assert not tasks
    assert "ManifestNotReadableError" in error or "ManifestNotFoundError" in error
    assert "manifest.json: " in error


NO_MANIFESTS = {
    "empty": "",
    "half": '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/mani',
    "half a character": b'{"metadata": "\xc3',
    "a list": "[]",
    "a text": '"manifest"',
    "null": "null",
    "deep": "[" * 100_000,
    "deep and whole": "[" * 100_000 + "]" * 100_000,
    "no nodes": '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}}',
    "nodes of another type": (
        '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}, "nodes": 1}'
    ),
}


@pytest.mark.parametrize("content", NO_MANIFESTS.values(), ids=NO_MANIFESTS)
def test_a_file_that_is_no_manifest_keeps_the_dag(
    airflow_home: Path, manifest: Path, dag_file: Path, content: str | bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_joinery.airflow.declared._WRITTEN_S", 0)
    whole = manifest.read_bytes()
    manifest.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert f"{ManifestFormatError.__name__}: {manifest}: " in parse(dag_file, manifest)[1]
    manifest.write_bytes(whole)
    good = parse(dag_file, manifest)
    manifest.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert parse(dag_file, manifest) == good


def test_a_copy_stands_in_for_a_week(manifest: Path, copies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_joinery.airflow.declared._WRITTEN_S", 0)
    first = declared(manifest)
    manifest.write_text("")
    (copy,) = copies.iterdir()
    six_days_ago, eight_days_ago = (time.time() - days * 86_400 for days in (6, 8))
    os.utime(copy, (six_days_ago, six_days_ago))
    assert declared(manifest) == first
    assert copy.stat().st_mtime == six_days_ago
    os.utime(copy, (eight_days_ago, eight_days_ago))
    with pytest.raises(ManifestFormatError, match="not JSON"):
        declared(manifest)


def test_a_manifest_that_stays_as_it_is_has_a_young_copy(manifest: Path, copies: Path) -> None:
    declared(manifest)
    (copy,) = copies.iterdir()
    os.utime(copy, (1, 1))
    declared(manifest)
    assert copy.stat().st_mtime > time.time() - 60


def test_copies_of_bundles_that_went_are_deleted(manifest: Path, tmp_path: Path, copies: Path) -> None:
    """Airflow has a folder for each version of a DAG bundle."""
    bundles = [tmp_path / f"version{number}" / "manifest.json" for number in range(3)]
    for number, path in enumerate(bundles):
        path.parent.mkdir()
        path.write_text(manifest.read_text())
        declared(path)
        assert len(list(copies.iterdir())) == number + 1
    for copy in copies.iterdir():
        os.utime(copy, (1, 1))
    (copies / "0123456789abcdef.4711").write_text("{")  # left by a process that was killed
    os.utime(copies / "0123456789abcdef.4711", (1, 1))
    assert declared(bundles[0]) == read_manifest(manifest).requests
    declared(manifest)
    assert len(list(copies.iterdir())) == 2


def test_copies_do_not_grow_without_end(
    manifest: Path, tmp_path: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_joinery.airflow.copies._MOST_COPIES", 2)
    for number in range(4):
        path = tmp_path / f"manifest{number}.json"
        path.write_text(manifest.read_text())
        declared(path)
    assert len(list(copies.iterdir())) == 2
