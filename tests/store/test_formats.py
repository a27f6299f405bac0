"""Versions of older releases are read, those of newer ones are left alone, and state is part of a version."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from spark_joinery.store import FORMAT_VERSION, ArtifactStore, FileSystem, StoreError

ARTIFACT = ("distribution", "spark_catalog.raw.flights", "0123456789abcdef")

# A version.json as spark-joinery 0.1.0 wrote it before format 2.
FORMAT_1: dict[str, Any] = {
    "built_at": "2026-11-20T02:00:00.000000Z",
    "built_by": "etl@host, spark-joinery 0.1.0",
    "files": [{"path": "data/part-0.parquet", "length": 4, "sha256": hashlib.sha256(b"rows").hexdigest()}],
    "fingerprint": {"type": "files", "reason": None, "files": [{"path": "file:/a", "length": 1, "modified_ms": 2}]},
    "format_version": 1,
    "hot_keys": 1,
    "keys": 2,
    "kind": "distribution",
    "relation": "spark_catalog.raw.flights",
    "rows": 4,
    "spec": {"partition_by": ["carrier"], "order_by": "departs_at", "quantiles": 8},
    "spec_hash": "0123456789abcdef",
    "version": "20261120T020000000000Z-01234567",
}


@pytest.fixture
def store(filesystem: FileSystem, tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "store"), filesystem)


def write_version(root: Path, description: dict[str, Any], current: bool = True) -> Path:
    """Write a version into a store by hand; returns the artifact's folder."""
    folder = root.joinpath(description["kind"], description["relation"], description["spec_hash"])
    version = folder / "versions" / description["version"]
    (version / "data").mkdir(parents=True)
    (version / "data" / "part-0.parquet").write_bytes(b"rows")
    content = json.dumps(description).encode()
    (version / "version.json").write_bytes(content)
    if current:
        pointer = {
            "format_version": 1,
            "version": description["version"],
            "version_sha256": hashlib.sha256(content).hexdigest(),
        }
        (folder / "_current.json").write_text(json.dumps(pointer))
    return folder


def test_format_1_is_read(store: ArtifactStore, tmp_path: Path) -> None:
    write_version(tmp_path / "store", FORMAT_1)
    lookup = store.current(*ARTIFACT)
    assert lookup.reason is None
    assert lookup.version is not None
    assert lookup.version.format_version == 1
    assert not lookup.version.has_state
    described = lookup.version.description
    assert described["format_version"] == FORMAT_VERSION
    assert {key: described[key] for key in FORMAT_1 if key != "format_version"} == {
        key: value for key, value in FORMAT_1.items() if key != "format_version"
    }
    assert (described["source"], described["built_from"], described["rank_error"]) == (None, None, None)


def test_a_newer_format_is_refused_and_survives(store: ArtifactStore, tmp_path: Path) -> None:
    newer = {**FORMAT_1, "format_version": FORMAT_VERSION + 1, "version": "20261121T020000000000Z-01234567"}
    write_version(tmp_path / "store", FORMAT_1, current=False)
    write_version(tmp_path / "store", newer)
    lookup = store.current(*ARTIFACT)
    assert lookup.version is not None
    assert lookup.version.name == FORMAT_1["version"]
    assert f"format version {FORMAT_VERSION + 1}, while this release of spark-joinery reads 1 to 2" in str(
        lookup.reason
    )


@pytest.mark.parametrize(
    "change",
    [
        {"relation": "spark_catalog.raw.other"},
        {"kind": "../distribution"},
        {"kind": 1},
        {"version": "20251120T020000000000Z-01234567"},
        {"files": {"data/part-0.parquet": 4}},
        {"files": [{"path": "../../part-0.parquet", "length": 4, "sha256": ""}]},
        {"files": []},
        {"format_version": True},
        {"format_version": "1"},
    ],
    ids=str,
)
def test_what_was_written_for_another_place_is_not_used(
    store: ArtifactStore, tmp_path: Path, change: dict[str, Any]
) -> None:
    folder = write_version(tmp_path / "store", FORMAT_1)
    content = json.dumps({**FORMAT_1, **change}).encode()
    (folder / "versions" / FORMAT_1["version"] / "version.json").write_bytes(content)
    pointer = {
        "format_version": 1,
        "version": FORMAT_1["version"],
        "version_sha256": hashlib.sha256(content).hexdigest(),
    }
    (folder / "_current.json").write_text(json.dumps(pointer))
    lookup = store.current(*ARTIFACT)
    assert lookup.version is None
    assert lookup.damaged


INDEX = {**FORMAT_1, "format_version": 2, "kind": "range_index", "built_from": None, "source": None}


@pytest.mark.parametrize(
    ("described", "paths", "reason"),
    [
        (FORMAT_1, [], "lists no data"),
        (FORMAT_1, ["state/part-0.parquet"], "lists no data"),
        (FORMAT_1, ["data/more/part-0.parquet"], "lists 'data/more/part-0.parquet', which is no file of its data"),
        (FORMAT_1, ["data/part-0.parquet", "data/../other"], "lists 'data/../other', which is no file of its data"),
        (FORMAT_1, ["data/part-0.parquet", "data/part-0.parquet"], "lists a file twice"),
        ({**FORMAT_1, "kind": "bloom_filter"}, ["data/more/part-0.parquet"], "which is no file of its data"),
        ({**INDEX, "runs": [["part-0.parquet"]]}, ["data/part-0.parquet"], "which is no file of its data"),
        ({**INDEX, "runs": []}, ["data/run-0/part-0.parquet"], "lists other files than its runs consist of"),
        (
            {**INDEX, "runs": [["run-0/part-0.parquet", "../../../secret"]]},
            ["data/run-0/part-0.parquet"],
            "lists other files than its runs consist of",
        ),
    ],
)
def test_files_that_a_reader_would_pass_over_refuse_the_version(
    store: ArtifactStore, tmp_path: Path, described: dict[str, Any], paths: list[str], reason: str
) -> None:
    """All listed files exist, with the right length and checksum."""
    files = [{**FORMAT_1["files"][0], "path": path} for path in paths]
    folder = write_version(tmp_path / "store", {**described, "files": files})
    version = folder / "versions" / FORMAT_1["version"]
    (version / "data" / "part-0.parquet").unlink()
    for path in paths:
        (version / path).parent.mkdir(parents=True, exist_ok=True)
        (version / path).write_bytes(b"rows")
    lookup = store.current(described["kind"], *ARTIFACT[1:])
    assert (lookup.version, lookup.damaged) == (None, True)
    assert reason in str(lookup.reason)


def test_nothing_is_published_that_no_reader_takes(store: ArtifactStore) -> None:
    pending = store.begin(*ARTIFACT)
    Path(pending.data_path.removeprefix("file:"), "more").mkdir(parents=True)
    Path(pending.data_path.removeprefix("file:"), "more", "part-0.parquet").write_bytes(b"rows")
    with pytest.raises(StoreError, match=r"cannot be published: it lists 'data/more/part-0\.parquet'"):
        store.publish(pending, {"type": "none", "reason": "test", "files": []})
    assert store.current(*ARTIFACT).version is None


def test_state_lies_beside_the_data(store: ArtifactStore) -> None:
    pending = store.begin(*ARTIFACT)
    for folder in (pending.data_path, pending.state_path):
        path = Path(folder.removeprefix("file:"))
        path.mkdir()
        (path / "part-0.parquet").write_bytes(b"rows")
        (path / "_SUCCESS").touch()
    version = store.publish(pending, {"type": "none", "reason": "test", "files": []}, {"built_from": "earlier"})
    assert store.current(*ARTIFACT).version == version
    assert version.has_state
    assert version.state_path == pending.state_path
    assert version.description["built_from"] == "earlier"
    assert [file["path"] for file in version.description["files"]] == ["data/part-0.parquet", "state/part-0.parquet"]

    state = Path(pending.state_path.removeprefix("file:")) / "part-0.parquet"
    state.write_bytes(b"ROWS")
    assert store.current(*ARTIFACT, verify="length").version == version
    assert "state/part-0.parquet has a wrong checksum" in str(store.current(*ARTIFACT).reason)
    state.unlink()
    assert "state/part-0.parquet is missing" in str(store.current(*ARTIFACT, verify="length").reason)


def test_a_file_that_was_added_is_damage(store: ArtifactStore) -> None:
    pending = store.begin(*ARTIFACT)
    data = Path(pending.data_path.removeprefix("file:"))
    data.mkdir()
    (data / "part-0.parquet").write_bytes(b"rows")
    store.publish(pending, {"type": "none", "reason": "test", "files": []})
    (data / "part-9.parquet").write_bytes(b"rows")
    assert "data/part-9.parquet does not belong to it" in str(store.current(*ARTIFACT, verify="length").reason)


def test_data_that_spark_wrote_elsewhere_is_not_published(store: ArtifactStore) -> None:
    pending = store.begin(*ARTIFACT)
    with pytest.raises(StoreError, match=r"Spark has written no file:/\S+/data\. .* a store that both reach"):
        store.publish(pending, {"type": "none", "reason": "test", "files": []})
    assert store.current(*ARTIFACT).version is None
