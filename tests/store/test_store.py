"""Versions, and the fallback if one is damaged."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_joinery.errors import JoineryError
from spark_joinery.store import (
    ArtifactStore,
    ArtifactVersion,
    FileSystem,
    Fingerprint,
    Limits,
    StoreError,
    StoreNotWritableError,
    open_store,
)
from spark_joinery.store.filesystem import LARGEST

ARTIFACT = ("distribution", "spark_catalog.raw.flights", "0123456789abcdef")
NO_FILES: Fingerprint = {"type": "none", "reason": "test", "files": []}
Publish = Callable[[bytes], ArtifactVersion]


@pytest.fixture
def store(filesystem: FileSystem, tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "store"), filesystem, Limits(grace_s=0))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the artifact that the tests publish."""
    return tmp_path.joinpath("store", *ARTIFACT)


@pytest.fixture
def publish(store: ArtifactStore) -> Publish:
    """A function that publishes a version with one data file of the given content."""

    def publish(content: bytes) -> ArtifactVersion:
        pending = store.begin(*ARTIFACT)
        data = Path(pending.data_path.removeprefix("file:"))
        data.mkdir()
        (data / "part-0.parquet").write_bytes(content)
        return store.publish(pending, NO_FILES)

    return publish


def data_file(version: ArtifactVersion) -> Path:
    return Path(version.data_path.removeprefix("file:")) / "part-0.parquet"


def test_nothing_is_current_before_the_first_refresh(store: ArtifactStore) -> None:
    lookup = store.current(*ARTIFACT)
    assert (lookup.version, lookup.reason) == (None, "nothing has been published yet")
    assert not Path(store.root.removeprefix("file:")).exists()


def test_a_published_version_says_what_it_is(store: ArtifactStore, publish: Publish, folder: Path) -> None:
    version = publish(b"rows")
    lookup = store.current(*ARTIFACT)
    assert (lookup.version, lookup.reason) == (version, None)
    described = json.loads((folder / "versions" / version.name / "version.json").read_text())
    sha256 = hashlib.sha256(b"rows").hexdigest()
    assert described["files"] == [{"path": "data/part-0.parquet", "length": 4, "sha256": sha256}]
    assert described["format_version"] == version.format_version == 2
    assert json.loads((folder / "_current.json").read_text())["format_version"] == 1
    assert (described["source"], described["built_from"]) == (None, None)
    assert described["fingerprint"] == NO_FILES
    assert (described["kind"], described["relation"], described["spec_hash"]) == ARTIFACT
    assert "spark-joinery" in described["built_by"]
    assert described["built_at"].endswith("Z")


def flip(path: Path) -> None:
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (flip, "has a wrong checksum"),
        (truncate, "has 3 bytes instead of 4"),
        (Path.unlink, "is missing"),
    ],
)
def test_the_previous_version_replaces_a_damaged_one(
    store: ArtifactStore,
    publish: Publish,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Path], None],
    reason: str,
) -> None:
    old, new = publish(b"old!"), publish(b"new!")
    damage(data_file(new))
    with caplog.at_level(logging.WARNING):
        lookup = store.current(*ARTIFACT)
    assert lookup.version == old
    assert lookup.reason == f"version {new.name}: data/part-0.parquet {reason}; version {old.name} is used"
    assert lookup.reason in caplog.text


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"format_version": 1}', b'{"format_version": 99}', b"\xff\xfe"]
)
@pytest.mark.parametrize("file", ["_current.json", "version.json"])
def test_a_damaged_or_unknown_json_file_is_no_obstacle(
    store: ArtifactStore, publish: Publish, folder: Path, file: str, content: bytes
) -> None:
    old, new = publish(b"old!"), publish(b"new!")
    path = folder / file if file == "_current.json" else folder / "versions" / new.name / file
    path.write_bytes(content)
    lookup = store.current(*ARTIFACT)
    assert lookup.version == (new if file == "_current.json" else old)
    assert lookup.reason is not None
    assert file in lookup.reason


def test_a_newer_format_is_left_alone(store: ArtifactStore, publish: Publish, folder: Path) -> None:
    version = publish(b"rows")
    described = {**version.description, "format_version": 3}
    (folder / "versions" / version.name / "version.json").write_text(json.dumps(described))
    (folder / "_current.json").write_text("{}")
    lookup = store.current(*ARTIFACT)
    assert lookup.version is None
    assert "has format version 3, while this release of spark-joinery reads 1 to 2" in str(lookup.reason)
    assert "no valid version is left" in str(lookup.reason)


def test_the_writer_that_publishes_last_wins(store: ArtifactStore, publish: Publish) -> None:
    slow = store.begin(*ARTIFACT)
    quick = publish(b"quick")
    data = Path(slow.data_path.removeprefix("file:"))
    data.mkdir()
    (data / "part-0.parquet").write_bytes(b"slow")
    assert store.current(*ARTIFACT).version == quick
    published = store.publish(slow, NO_FILES)
    assert store.current(*ARTIFACT).version == published


def test_three_versions_are_kept(store: ArtifactStore, publish: Publish, folder: Path) -> None:
    names = [publish(b"rows").name for _ in range(5)]
    assert sorted(path.name for path in (folder / "versions").iterdir()) == names[2:]
    assert sorted(path.name for path in folder.iterdir()) == ["_current.json", "versions"]


def test_only_old_leftovers_are_removed(store: ArtifactStore, publish: Publish, folder: Path) -> None:
    dead, alive = store.begin(*ARTIFACT), store.begin(*ARTIFACT)
    long_ago = time.time() - store.limits.abandoned_after_s - 60
    (folder / "_dead.json").write_text("half")
    for path in (folder / "versions" / dead.name, folder / "_dead.json"):
        os.utime(path, (long_ago, long_ago))
    version = publish(b"rows")
    assert sorted(path.name for path in (folder / "versions").iterdir()) == sorted([alive.name, version.name])
    assert sorted(path.name for path in folder.iterdir()) == ["_current.json", "versions"]


def test_a_new_store_is_private(store: ArtifactStore, publish: Publish, folder: Path) -> None:
    version = publish(b"rows")
    for path in (folder.parents[2], folder, folder / "versions" / version.name):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_folders_in_an_open_store_follow_the_source(store: ArtifactStore, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir(mode=0o755)
    for relation, mode in (("a.b.open", 0o755), ("a.b.secret", 0o700)):
        path = store.begin("distribution", relation, ARTIFACT[2], mode).path
        assert stat.S_IMODE(Path(path.removeprefix("file:")).stat().st_mode) == mode


@pytest.mark.parametrize("root", ["file", "/proc/joinery"])
def test_a_store_that_cannot_be_written_is_one_clear_error(filesystem: FileSystem, tmp_path: Path, root: str) -> None:
    (tmp_path / "file").write_text("in the way")
    store = ArtifactStore(str(tmp_path / root / "store"), filesystem)
    with pytest.raises(
        StoreNotWritableError, match=r"The artifact store file:/\S+/store cannot be written .*Give .*--store"
    ):
        store.begin(*ARTIFACT)
    assert store.current(*ARTIFACT).version is None


def test_publishing_where_writing_stopped_working_keeps_the_old_version(
    store: ArtifactStore, publish: Publish, folder: Path
) -> None:
    old = publish(b"old!")
    pending = store.begin(*ARTIFACT)
    Path(pending.data_path.removeprefix("file:")).mkdir()
    Path(pending.data_path.removeprefix("file:"), "part-0.parquet").write_bytes(b"new!")
    # root ignores permission bits, so a folder in the file's place blocks the write
    (folder / f"_{pending.name}.json").mkdir()
    with pytest.raises(StoreNotWritableError):
        store.publish(pending, NO_FILES)
    assert store.current(*ARTIFACT).version == old


def test_other_file_systems_take_the_same_way(spark: SparkSession, tmp_path: Path) -> None:
    hadoop = spark._jsc.hadoopConfiguration()
    hadoop.set("fs.viewfs.mounttable.joinery.link./mount", tmp_path.as_uri())
    store = open_store(spark, "viewfs://joinery/mount/store")
    for _ in range(2):
        pending = store.begin(*ARTIFACT)
        spark.range(3).write.parquet(pending.data_path)
        version = store.publish(pending, NO_FILES)
    lookup = store.current(*ARTIFACT)
    assert (lookup.version, lookup.reason) == (version, None)
    assert spark.read.parquet(version.data_path).count() == 3


def test_a_store_has_to_be_named(spark: SparkSession) -> None:
    with pytest.raises(JoineryError, match=r"give --store, or set spark\.joinery\.store"):
        open_store(spark)


@pytest.mark.parametrize("character", ["[", "]", "{", "}", "\\"])
def test_a_name_that_spark_takes_for_a_pattern_is_refused(
    spark: SparkSession, filesystem: FileSystem, tmp_path: Path, character: str
) -> None:
    """Spark would not find again the files that it writes there."""
    root = f"{tmp_path}/a{character}b/store"
    message = f"a{re.escape(character)}b/store.* has a {re.escape(character)} in its path.*Name another folder"
    with pytest.raises(StoreError, match=message):
        ArtifactStore(root, filesystem)
    with pytest.raises(StoreError, match=message):
        open_store(spark, root)
    assert list(tmp_path.iterdir()) == []


def test_a_refresh_that_spark_still_writes_to_is_not_abandoned(
    store: ArtifactStore, publish: Publish, folder: Path
) -> None:
    """Spark's tasks write deep below a folder whose own time does not change."""
    slow, dead = store.begin(*ARTIFACT), store.begin(*ARTIFACT)
    long_ago = time.time() - store.limits.abandoned_after_s - 60
    for pending in (slow, dead):
        task = folder / "versions" / pending.name / "data" / "_temporary" / "0" / "task"
        task.mkdir(parents=True)
        (task / "part-0.parquet").write_text("half")
        for path in (folder / "versions" / pending.name).rglob("*"):
            os.utime(path, (long_ago, long_ago))
        os.utime(folder / "versions" / pending.name, (long_ago, long_ago))
    os.utime(folder / "versions" / slow.name / "data" / "_temporary" / "0" / "task" / "part-0.parquet")
    version = publish(b"rows")
    assert sorted(path.name for path in (folder / "versions").iterdir()) == sorted([slow.name, version.name])


def test_publish_description_beyond_what_readers_take_is_refused(store: ArtifactStore) -> None:
    pending = store.begin(*ARTIFACT)
    store.filesystem.make_folder(pending.data_path, 0o700)
    store.filesystem._write(f"{pending.data_path}/part-0.parquet", b"data")
    with pytest.raises(StoreError, match=r"readers take 16,777,216 at most\. Compact the files of the source"):
        store.publish(pending, NO_FILES, {"remark": " " * LARGEST})
    assert store.current(*ARTIFACT).version is None
