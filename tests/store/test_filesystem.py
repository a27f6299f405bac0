"""Hadoop's and pyarrow's file systems behave alike."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs
from pyspark.sql import SparkSession
from spark_joinery.errors import JoineryError
from spark_joinery.store import (
    ArrowFileSystem,
    ArtifactStore,
    FileStatus,
    FileSystem,
    HadoopFileSystem,
    path_of_uri,
    vacuum,
)

NAMES = ["plain.parquet", "a space", "per%20cent", "plus+and=hash#", "question?", "ünï", "packed.gz", ".hidden", "_x"]


@pytest.fixture
def both(spark: SparkSession) -> tuple[FileSystem, FileSystem]:
    return HadoopFileSystem.of_session(spark), ArrowFileSystem()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two levels of files with odd names, different times, lengths and modes."""
    for folder in (tmp_path / "tree", tmp_path / "tree" / "deep er"):
        folder.mkdir(mode=0o750)
        for at, name in enumerate(NAMES):
            (folder / name).write_bytes(name.encode() * at)
            (folder / name).chmod(0o600 + at)
            os.utime(folder / name, ns=(0, 1_700_000_000_123_456_789 + at * 10**9))
    return tmp_path / "tree"


def test_they_see_the_same(both: tuple[FileSystem, FileSystem], tree: Path) -> None:
    hadoop, arrow = both
    for folder in (tree, tree / "deep er"):
        root = hadoop.qualify(str(folder))
        for one, other in zip(hadoop.list(root), arrow.list(root), strict=True):
            assert (one.path, one.is_folder, one.modified_ms, one.mode) == (
                other.path,
                other.is_folder,
                other.modified_ms,
                other.mode,
            )
            if not one.is_folder:
                assert one == other == hadoop.status(one.path) == arrow.status(one.path)
                content = Path(one.path.removeprefix("file:")).read_bytes()
                assert hadoop.read(one.path) == arrow.read(one.path) == content
                assert hadoop.sha256(one.path) == arrow.sha256(one.path) == hashlib.sha256(content).hexdigest()
    walked = [status.path for status in arrow.walk(root.rsplit("/", 1)[0])]
    assert walked == [status.path for status in hadoop.walk(root.rsplit("/", 1)[0])]
    assert len(walked) == 2 * (len(NAMES) - 2)


def test_files_are_hidden_as_spark_hides_them(spark: SparkSession, filesystem: FileSystem, tmp_path: Path) -> None:
    rows = spark.range(4).selectExpr("id", "id % 2 AS _k")
    rows.coalesce(1).write.partitionBy("_k").parquet(str(tmp_path / "source"))
    shutil.copy(next((tmp_path / "source").rglob("*.parquet")), tmp_path / "file")
    for name in ("_hidden", ".k=1", "_k=1/_x", "_k=1/.x", "_k=1/half.parquet._COPYING_"):
        (tmp_path / "source" / name).parent.mkdir(exist_ok=True)
        shutil.copy(tmp_path / "file", tmp_path / "source" / name)
    read = {path_of_uri(uri) for uri in spark.read.parquet(str(tmp_path / "source")).inputFiles()}
    assert {file.path for file in filesystem.walk(f"file:{tmp_path}/source")} == read
    assert len(read) == 2


def test_arrow_renames_nothing_local_for_another_file_system(tmp_path: Path) -> None:
    """`abfss:` has renames, but pyarrow does not promise that they are atomic. A vacuum needs no renames."""
    (tmp_path / "remote" / "store").mkdir(parents=True)
    (tmp_path / "store").mkdir()
    remote = fs.SubTreeFileSystem(str(tmp_path / "remote"), fs.LocalFileSystem())
    filesystem = ArrowFileSystem({"abfss://box@account": remote})
    with pytest.raises(OSError, match="cannot replace a file of abfss: in one step"):
        filesystem.replace("abfss://box@account/store/a.json", b"new", "abfss://box@account/store/_a.json")
    assert vacuum(ArtifactStore("abfss://box@account/store", filesystem)).failed == {}
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith("_clock")]


def test_they_see_the_same_nothing(both: tuple[FileSystem, FileSystem], tree: Path) -> None:
    for filesystem in both:
        for missing in (tree / "none", tree / "plain.parquet" / "below"):
            path = filesystem.qualify(str(missing))
            assert filesystem.status(path) is None
            assert filesystem.list(path) == []
            assert list(filesystem.walk(path)) == []
            assert not filesystem.delete_empty(path)
            filesystem.delete(path)
            with pytest.raises(FileNotFoundError if missing.name == "none" else OSError):
                filesystem.read(path)
        assert filesystem.list(filesystem.qualify(str(tree / "plain.parquet"))) == []


@pytest.mark.parametrize(
    "path",
    ["/data//x/", "file:///data/x", "file:/data/./a/../b c/%20", "/", "data/x", "/a/b=c;d,e", "/ü"],
)
def test_they_spell_paths_alike(
    both: tuple[FileSystem, FileSystem], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hadoop, arrow = both
    # a JVM keeps the working directory in which it was started
    monkeypatch.chdir(hadoop.qualify(".").removeprefix("file:"))
    assert hadoop.qualify(path) == arrow.qualify(path)


@pytest.mark.parametrize(
    "uri", ["file:///data/a%20b/%25/p=%C3%BC", "file:/x+y", "s3a://bucket/a%20b", "hdfs://h:9000/%23"]
)
def test_uris_are_decoded_as_by_hadoop(spark: SparkSession, uri: str) -> None:
    assert spark._jvm is not None
    decoded = spark._jvm.org.apache.hadoop.fs.Path(spark._jvm.java.net.URI(uri)).toString()
    assert path_of_uri(uri) == decoded.replace("file:///", "file:/")


def test_folders_get_their_mode_whatever_the_umask(filesystem: FileSystem, tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    former = os.umask(0o077)
    try:
        filesystem.make_folder(filesystem.qualify(str(tmp_path / "a" / "b")), 0o755)
    finally:
        os.umask(former)
    filesystem.make_folder(filesystem.qualify(str(tmp_path / "a" / "b" / "c")), 0o700)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path, *sorted(tmp_path.rglob("*")))]
    assert modes == [0o711, 0o755, 0o755, 0o700]


def test_files_are_replaced_and_deleted(filesystem: FileSystem, tmp_path: Path) -> None:
    root = filesystem.qualify(str(tmp_path / "a store"))
    filesystem.make_folder(f"{root}/folder", 0o700)
    for content in (b"old", b"", b"new\0"):
        filesystem.replace(f"{root}/file.gz", content, f"{root}/_temporary")
        assert (tmp_path / "a store" / "file.gz").read_bytes() == content
    assert sorted(path.name for path in (tmp_path / "a store").iterdir()) == ["file.gz", "folder"]
    filesystem.copy(f"{root}/file.gz", f"{root}/folder/copy")
    assert filesystem.read(f"{root}/folder/copy") == b"new\0"
    filesystem.delete(f"{root}/folder/copy")
    assert not filesystem.delete_empty(root)
    assert not filesystem.delete_empty(f"{root}/file.gz")
    assert filesystem.delete_empty(f"{root}/folder")
    filesystem.delete(root)
    assert not (tmp_path / "a store").exists()


def test_a_file_is_replaced_as_a_whole_or_not_at_all(filesystem: FileSystem, tmp_path: Path) -> None:
    path = filesystem.qualify(str(tmp_path / "file"))
    filesystem.replace(path, b"old", f"{path}.tmp")
    (tmp_path / "in the way").mkdir()
    with pytest.raises(OSError, match="in the way"):
        filesystem.replace(path, b"new", f"{path.removesuffix('file')}in the way")
    assert filesystem.read(path) == b"old"


def test_an_object_store_holds_a_store(tmp_path: Path) -> None:
    """Arrow's file system in memory stands in for a bucket, without renames and without modes."""
    bucket = fs.FileSystem.from_uri("mock:///")[0]
    filesystem = ArrowFileSystem({"s3a://bucket": fs.SubTreeFileSystem("bucket", bucket)})
    bucket.create_dir("bucket")
    store = ArtifactStore("s3a://bucket//joinery/", filesystem)
    assert store.root == "s3a://bucket/joinery"
    artifact = ("distribution", "spark_catalog.raw.flights", "0123456789abcdef")
    for content in (b"old", b"new"):
        pending = store.begin(*artifact)
        filesystem.make_folder(pending.data_path, 0o700)
        filesystem._write(f"{pending.data_path}/part-0.parquet", content)
        version = store.publish(pending, {"type": "none", "reason": "test", "files": []})
        assert store.current(*artifact).version == version
    current = filesystem.status(f"{pending.folder}/_current.json")
    assert current is not None
    assert (current.path, current.mode) == (f"{pending.folder}/_current.json", 0o700)
    assert filesystem.read(f"{version.data_path}/part-0.parquet") == b"new"
    filesystem.delete(store.root)
    assert filesystem.status(store.root) is None


@pytest.mark.parametrize("folders_ms", [0, None], ids=["as pyarrow", "as S3A"])
def test_folders_of_object_stores_do_not_tell_their_age(tmp_path: Path, folders_ms: int | None) -> None:
    class Bucket(ArrowFileSystem):
        def _status(self, path: str, info: Any) -> FileStatus | None:
            status = super()._status(path, info)
            if status is None or not status.is_folder:
                return status
            return replace(status, modified_ms=int(time.time() * 1000) if folders_ms is None else folders_ms)

    remote = tmp_path / "remote"
    remote.mkdir()
    filesystem = Bucket({"s3a://bucket": fs.SubTreeFileSystem(str(remote), fs.LocalFileSystem())})
    store = ArtifactStore("s3a://bucket/store", filesystem)
    artifact = ("distribution", "spark_catalog.raw.flights", "0123456789abcdef")
    begun, written, killed = (store.begin(*artifact) for _ in range(3))
    for pending, age_s in ((written, 60), (killed, 7 * 3600)):
        filesystem.make_folder(pending.data_path, 0o700)
        file = f"{pending.data_path}/part-0.parquet"
        filesystem._write(file, b"half")
        os.utime(remote / file.removeprefix("s3a://bucket/"), (time.time() - age_s,) * 2)
    long_ago = f"{begun.folder}/versions/20200101T000000000000Z-0a1b2c3d"
    filesystem.make_folder(long_ago, 0o700)
    nobody_knows = f"{begun.folder}/versions/other"
    filesystem.make_folder(nobody_knows, 0o700)
    removed = vacuum(store)
    assert removed.failed == {}
    assert {removal.path: removal.reason for removal in removed.removals} == {
        killed.path: "abandoned",
        long_ago: "abandoned",
    }
    assert [status.path for status in filesystem.list(f"{begun.folder}/versions")] == [
        begun.path,
        written.path,
        nobody_knows,
    ]
    # the artifact is undeclared, but its last folders have no known age
    filesystem.delete(written.path)
    assert vacuum(store, declared=set()).removals == []


def test_other_file_systems_are_read_only_or_unknown() -> None:
    filesystem = ArrowFileSystem({"hdfs://cluster": fs.FileSystem.from_uri("mock:///")[0]})
    assert filesystem.list("hdfs://cluster/joinery") == []
    with pytest.raises(OSError, match="cannot replace a file of hdfs: in one step"):
        filesystem.make_folder("hdfs://cluster/joinery", 0o700)
    with pytest.raises(OSError, match="dbfs"):
        filesystem.list("dbfs:/joinery")


def test_without_pyarrow_only_local_files_are_reached(monkeypatch: pytest.MonkeyPatch, tree: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    filesystem = ArrowFileSystem()
    assert [status.name for status in filesystem.list(f"file:{tree}")] == sorted([*NAMES, "deep er"])
    with pytest.raises(JoineryError, match=r"pip install 'pyspark\[connect\]'"):
        filesystem.list("s3a://bucket/joinery")
