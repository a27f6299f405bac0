"""`joinery list`, `show` and `vacuum` start Spark only if they need it."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from spark_joinery.cli import main, opened_store
from spark_joinery.cli.show import examine
from spark_joinery.jobs import refresh_artifact
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, RangeIndexSpec, Spec
from spark_joinery.store import ArrowFileSystem, ArtifactStore, Fingerprint, Limits, is_named, list_artifacts

FLIGHTS = ArtifactRequest.of_table("raw.flights", DistributionSpec(partition_by=["carrier"], order_by="departs_at"))


@pytest.fixture(autouse=True)
def no_spark(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands use the test's session if it has one, and fail if they would start Spark."""

    @contextmanager
    def session(confs: dict[str, str], with_tables: bool) -> Iterator[SparkSession]:
        assert "spark" in request.fixturenames, "Spark is started"
        yield request.getfixturevalue("spark")

    monkeypatch.setattr(opened_store, "_session", session)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "store"), ArrowFileSystem(), Limits(grace_s=0))


def run(command: str, store: ArtifactStore | str, *arguments: str, code: int = 0) -> Any:
    """Run a command with --json, and return its parsed output."""
    root = store if isinstance(store, str) else store.root
    done = CliRunner().invoke(main, [command, "--store", root, "--json", *arguments])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout) if code < 2 else done.output


def shown(command: str, store: ArtifactStore, *arguments: str, code: int = 0) -> str:
    """Run a command without --json, and return its output."""
    done = CliRunner().invoke(main, [command, "--store", store.root, *arguments], env={"COLUMNS": "200"})
    assert done.exit_code == code, done.output
    return done.output


def publish(store: ArtifactStore, request: ArtifactRequest, source: Path | None = None) -> Path:
    """Publish a version that covers the files below a folder; returns its data file."""
    pending = store.begin(request.kind, request.relation, request.spec_hash)
    name = "run-0/part-0.parquet" if request.kind == "range_index" else "part-0.parquet"
    data = Path(pending.data_path.removeprefix("file:")) / name
    data.parent.mkdir(parents=True)
    data.write_bytes(b"x" * 3000)
    files = list(store.filesystem.walk(store.filesystem.qualify(str(source)))) if source else []
    fingerprint: Fingerprint = {
        "type": "files",
        "reason": None,
        "files": [{"path": f.path, "length": f.length, "modified_ms": f.modified_ms} for f in files],
    }
    spec = request.spec.model_dump(mode="json", exclude_none=True)
    index = {"runs": [[name]], "columns": ["k"]}
    details = index if request.kind == "range_index" else {"filled_blocks": 1, "set_bits": 8}
    store.publish(pending, fingerprint, {"rows": 1234, "spec": spec, "settings": {}, **details})
    return data


def of_path(path: Path, spec: Spec) -> ArtifactRequest:
    return ArtifactRequest.of_table(f"parquet.`{path}`", spec)


def test_list(store: ArtifactStore, tmp_path: Path) -> None:
    Path(store.root.removeprefix("file:")).mkdir()
    assert run("list", store) == []
    assert shown("list", store) == "No artifact.\n"
    filters = of_path(tmp_path / ("long" * 60), BloomFilterSpec(keys=["tailnum"], fpp=0.1))
    for request in (FLIGHTS, FLIGHTS, filters):
        data = publish(store, request)
    first, second = run("list", store)
    assert first["relation"] == filters.relation  # its folder has a shortened name
    assert (first["kind"], first["spec"]) == ("bloom_filter", {"keys": ["tailnum"], "fpp": 0.1})
    assert (second["relation"], second["versions"], second["rows"]) == (FLIGHTS.relation, 2, 1234)
    assert (second["bytes"], second["format_version"], second["damaged"]) == (3000, 2, False)
    assert 0 <= second["age_seconds"] < 600
    assert [row["kind"] for row in run("list", store, "--kind", "distribution")] == ["distribution"]
    assert [row["relation"] for row in run("list", store, "--select", "RAW.flights")] == [FLIGHTS.relation]
    assert run("list", store, "--select", "nobody") == []
    table = shown("list", store)
    assert "bloom_filter fpp=0.1 keys=tailnum" in table
    assert "2.9 KiB" in table
    assert "1,234" in table

    data.write_bytes(b"y" * 3000)
    assert not any(row["damaged"] for row in run("list", store))
    assert [row["damaged"] for row in run("list", store, "--checksum", code=1)] == [True, False]
    data.unlink()
    assert run("list", store, code=1)[0]["version"] is None
    assert "damaged: version" in shown("list", store, code=1)


@pytest.mark.parametrize(
    ("relation", "name", "named"),
    [
        ("file:/data/flights.csv", "csv", False),
        ("s3a://bucket/t.planes", "planes", False),
        ("file:/data/a.b", "`file:/data/a`.b", False),
        ("file:/data/flights", "/data/flights/", True),
        ("file:/data/flights", "parquet.`/data/flights`", True),
        ("file:/data/flights", "CSV.`file:///data/flights`", True),
        ("file:/data/flights", "raw.`/data/flights`", False),
        ("file:/data/flights", "data/flights", False),
        ("s3a://bucket/t", "delta.`s3a://bucket/t`", True),
        ("spark_catalog.raw.`a b`", "a b", True),
        ("spark_catalog.raw.`a b`", "A b", True),
        ("spark_catalog.raw.`a b`", "raw.`a b`", True),
        ("spark_catalog.raw.`a b`", "b", False),
        ("spark_catalog.raw.flights", "", False),
        ("ice.raw.Flights", "flights", False),
        ("spark_catalog.raw.`x:/y.csv`", "csv", False),
        ("spark_catalog.raw.`x:/y.csv`", "x:/y.csv", True),
    ],
)
def test_by_which_names_a_relation_goes(relation: str, name: str, named: bool) -> None:
    assert is_named(relation, name) is named


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for missing, problem in (
        (tmp_path / "store", "does not exist; `joinery refresh` creates it."),
        (tmp_path / "file", "is a file: an artifact store is a folder."),
    ):
        for command in (["list"], ["show", "flights"], ["vacuum"]):
            output = run(command[0], str(missing), *command[1:], code=2)
            assert f"Error: file:{missing} {problem}" in output


def test_names_that_are_empty_select_nothing(store: ArtifactStore) -> None:
    publish(store, FLIGHTS)
    for command in ("list", "vacuum", "report", "refresh"):
        done = CliRunner().invoke(main, [command, "--store", store.root, "--select", ""])
        assert done.exit_code == 2, (command, done.output)
        assert "'' names nothing; without a selection everything is taken." in done.output


def test_a_local_store_is_read_without_spark_and_pyarrow(store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    publish(store, FLIGHTS)
    assert len(run("list", store)) == 1
    assert len(run("show", store, FLIGHTS.relation, "--no-source")) == 1
    assert run("vacuum", store)["removals"] == []


def test_spark_is_started_where_pyarrow_is_missing(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    output = run("list", "s3a://bucket/joinery", code=2)
    assert "S3AFileSystem" in output  # which Spark without further jars does not have


@pytest.mark.parametrize(
    ("path", "confs", "environment", "near"),
    [
        ("/data/joinery", {}, {}, True),
        ("/data/joinery", {}, {"HADOOP_CONF_DIR": "/etc/hadoop"}, False),
        ("/data/joinery", {"spark.hadoop.fs.defaultFS": "hdfs://cluster"}, {}, False),
        ("/data/joinery", {"spark.hadoop.fs.s3a.endpoint": "x"}, {}, True),
        ("file:/data/joinery", {"spark.hadoop.fs.defaultFS": "x"}, {"HADOOP_CONF_DIR": "/etc/hadoop"}, True),
        ("s3a://bucket/joinery", {}, {}, True),
        ("s3a://bucket/joinery", {"spark.hadoop.fs.s3a.endpoint": "x"}, {}, False),
        ("hdfs://cluster/joinery", {}, {}, False),
    ],
)
def test_what_is_reached_without_spark(
    store: ArtifactStore,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    confs: dict[str, str],
    environment: dict[str, str],
    near: bool,
) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    with ExitStack() as stack:
        opened = opened_store.OpenedStore(store.root, {}, False, stack)
        opened._confs = confs
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert opened.is_near(path) is near


def test_spark_is_started_where_pyarrow_does_not_reach(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: ArrowFileSystem, path: str) -> None:
        raise OSError("no credentials")

    monkeypatch.setattr(ArrowFileSystem, "status", refuse)
    output = run("list", "s3a://bucket/joinery", code=2)
    assert "S3AFileSystem" in output  # which Spark without further jars does not have


@pytest.mark.parametrize(
    ("spec", "after"),
    [
        (
            DistributionSpec(partition_by=["k"], order_by="v"),
            {"same": True, "more": True, "changed": True, "less": True},
        ),
        (BloomFilterSpec(keys=["k"]), {"same": True, "more": True, "changed": True, "less": True}),
        (RangeIndexSpec(point="v"), {"same": True, "more": True, "changed": False, "less": False}),
    ],
    ids=["distribution", "bloom_filter", "range_index"],
)
def test_show_compares_with_the_source(
    store: ArtifactStore, tmp_path: Path, spec: Spec, after: dict[str, bool]
) -> None:
    source = tmp_path / "source"
    (source / "day=1").mkdir(parents=True)
    for name in ("a", "b", "day=1/c"):
        (source / f"{name}.parquet").write_text(name)
    request = of_path(source, spec)
    publish(store, request, source)
    shutil.copytree(source, tmp_path / "aside", copy_function=shutil.copy2)

    def show() -> Any:
        (report,) = run("show", store, str(source))
        return report

    for change, valid in after.items():
        shutil.rmtree(source)
        shutil.copytree(tmp_path / "aside", source, copy_function=shutil.copy2)
        if change == "more":
            (source / "d.parquet").write_text("d")
        elif change == "changed":
            os.utime(source / "a.parquet", (1, 1))
        elif change == "less":
            (source / "day=1" / "c.parquet").unlink()
        report = show()
        assert report["validity"]["usable"] is valid, change
        covered = {"same": (3, 3, 0), "more": (3, 4, 0), "changed": (2, 3, 1), "less": (2, 2, 1)}[change]
        assert tuple(report["coverage"].values()) == covered
    shutil.rmtree(source)
    report = show()
    assert report["coverage"] is None
    if report["kind"] != "distribution":
        assert report["validity"] == {"usable": None, "reason": f"file:{source} does not exist"}
    assert [version["state"] for version in report["history"]] == ["in use"]


def test_show_prints_all_artifacts_of_a_relation(store: ArtifactStore) -> None:
    data = [publish(store, FLIGHTS) for _ in range(2)]
    index = ArtifactRequest.of_table("raw.flights", RangeIndexSpec(point="departs_at", columns=["tailnum"]))
    publish(store, index)
    publish(store, ArtifactRequest.of_table("raw.planes", BloomFilterSpec(keys=["tailnum"])))
    output = shown("show", store, "flights", "--no-source")
    assert "range_index " in output
    assert "valid now      unknown: the source was not looked at" in output
    assert "valid now      yes: a distribution is always used" in output
    assert "format         2" in output
    assert "planes" not in output
    data[1].write_bytes(b"")
    store.begin(FLIGHTS.kind, FLIGHTS.relation, FLIGHTS.spec_hash)
    report = run("show", store, "flights", "--no-source", code=1)[0]
    assert report["damaged"]
    assert "has 0 bytes instead of 3000" in report["reason"]
    states = [version["state"] for version in report["history"]]
    assert states[0] == "in use"
    assert sorted(states[1:]) == ["data/part-0.parquet has 0 bytes instead of 3000", "incomplete"]
    output = run("show", store, "nobody", code=2)
    assert "There is no artifact of nobody" in output


def test_show_opens_tables_as_a_refresh_does(spark: SparkSession, store: ArtifactStore) -> None:
    spark.sql("CREATE SCHEMA IF NOT EXISTS shown")
    try:
        spark.range(4).selectExpr("id k", "id v").coalesce(1).write.saveAsTable("shown.facts")
        request = ArtifactRequest.of_table("shown.facts", BloomFilterSpec(keys=["k"]))
        assert refresh_artifact(spark, request, store, schema=None).status == "refreshed"
        with ExitStack() as stack:
            opened = opened_store.OpenedStore(store.root, {}, True, stack)

            def validity() -> tuple[bool | None, str]:
                (report,) = examine(opened, list_artifacts(opened.store), no_source=False)
                return report.validity.usable, report.validity.reason

            assert validity() == (True, "all files of the source are covered")
            spark.range(1).selectExpr("id k", "id v").coalesce(1).write.mode("append").saveAsTable("shown.facts")
            assert validity() == (True, "1 of 2 files are new or changed, and queries read their keys on top")
            spark.sql("ALTER TABLE shown.facts ADD COLUMN w int")
            assert validity() == (False, "the source's schema has changed")
            spark.sql("DROP TABLE shown.facts")
            assert validity() == (None, "spark_catalog.shown.facts does not exist")
    finally:
        spark.sql("DROP SCHEMA shown CASCADE")


def manifest_of(folder: Path, *specs: tuple[str, str, dict[str, Any]]) -> Path:
    """Write a manifest like dbt's that declares specifications of tables in the schema raw."""
    sources = {
        f"source.shop.raw.{table}": {
            "resource_type": "source",
            "relation_name": f"raw.{table}",
            "config": {"meta": {"joinery": {kind: [spec]}}},
        }
        for table, kind, spec in specs
    }
    version = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    path = folder / "manifest.json"
    path.write_text(json.dumps({"metadata": {"dbt_schema_version": version}, "nodes": {}, "sources": sources}))
    return path


def test_vacuum(store: ArtifactStore, tmp_path: Path) -> None:
    planes = ArtifactRequest.of_table("raw.planes", BloomFilterSpec(keys=["tailnum"]))
    for _ in range(3):
        for request in (FLIGHTS, planes):
            publish(store, request)
    root = Path(store.root.removeprefix("file:"))
    before = sorted(root.rglob("*"))
    assert run("vacuum", store, "--keep", "1")["removals"] == []  # younger than an hour
    plan = run("vacuum", store, "--keep", "1", "--older-than", "0s", "--dry-run", "--select", "planes")
    assert [removal["reason"] for removal in plan["removals"]] == ["replaced"] * 2
    assert all("/bloom_filter/" in removal["path"] for removal in plan["removals"])
    assert plan["bytes"] > 6000
    assert sorted(root.rglob("*")) == before
    output = shown("vacuum", store, "--keep", "2", "--older-than", "0s", "--select", "planes")
    assert "KiB were freed in file:" in output
    assert len(run("vacuum", store, "--older-than", "0s", "--keep", "1")["removals"]) == 3
    assert [row["versions"] for row in run("list", store)] == [1, 1]
    assert shown("vacuum", store, "--older-than", "0s", "--keep", "1") == "Nothing to delete.\n"
    assert "expected a number and s, m, h, d or w" in run("vacuum", store, "--older-than", "1 month", code=2)


def test_vacuum_of_what_is_no_longer_declared(store: ArtifactStore, tmp_path: Path) -> None:
    planes = ArtifactRequest.of_table("raw.planes", BloomFilterSpec(keys=["tailnum"]))
    # a refresh may run with another current catalog than `spark_catalog`
    for request in (FLIGHTS, planes, FLIGHTS.in_catalog("ice")):
        publish(store, request)
    declared = manifest_of(
        tmp_path, ("flights", "distributions", FLIGHTS.spec.model_dump(mode="json", exclude_none=True))
    )
    options = ("--undeclared", "--manifest", str(declared))
    assert run("vacuum", store, *options)["removals"] == []  # refreshed a moment ago
    folder = tmp_path.joinpath("store", "bloom_filter", "spark_catalog.raw.planes")
    elsewhere = tmp_path.joinpath("store", "distribution", "ice.raw.flights")
    for path in (*folder.rglob("*"), folder, folder.parent, *elsewhere.rglob("*")):
        os.utime(path, (1, 1))
    assert run("vacuum", store)["removals"] == []  # without the option, undeclared artifacts stay
    done = run("vacuum", store, *options)
    assert [removal["reason"] for removal in done["removals"]] == ["undeclared", "empty", "empty"]
    assert [row["relation"] for row in run("list", store)] == ["ice.raw.flights", FLIGHTS.relation]
    assert sorted(path.name for path in tmp_path.joinpath("store").iterdir()) == ["distribution"]

    empty = manifest_of(tmp_path)
    assert "nothing to refresh" in run("vacuum", store, "--undeclared", "--manifest", str(empty), code=2)
    assert "no such file" in run("vacuum", store, "--undeclared", "--manifest", str(tmp_path / "none.json"), code=2)
    assert len(run("list", store)) == 2


def test_vacuum_leaves_what_is_not_ours(store: ArtifactStore, tmp_path: Path) -> None:
    publish(store, FLIGHTS)
    root = tmp_path / "store"
    for path in ("notes.txt", "photos/2013/01/a.jpg", "distribution/readme.md", "distribution/x/not-a-hash/versions/a"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("mine")
    for path in root.rglob("*"):
        os.utime(path, (1, 1))
    before = sorted(root.rglob("*"))
    assert run("vacuum", store, "--older-than", "0s", "--keep", "1")["removals"] == []
    assert sorted(root.rglob("*")) == before


def test_what_cannot_be_deleted_is_told(store: ArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        publish(store, FLIGHTS)

    def refuse(self: ArrowFileSystem, path: str) -> None:
        if "/versions/" in path:
            raise PermissionError(f"{path} is not yours")

    monkeypatch.setattr(ArrowFileSystem, "delete", refuse)
    done = run("vacuum", store, "--older-than", "0s", "--keep", "1", code=1)
    assert [failure["error"].endswith("is not yours") for failure in done["failed"]] == [True]
    assert done["bytes"] == 0
    assert "failed: " in shown("vacuum", store, "--older-than", "0s", "--keep", "1", code=1)


def test_names_in_a_store_cannot_command_the_terminal(store: ArtifactStore) -> None:
    """An older release accepted such names, and every user who can write to the store can create them."""
    request = dataclasses.replace(FLIGHTS, relation="spark_catalog.raw.`[red]a\x1b]0;b\x07`")
    data = publish(store, request)
    listed = shown("list", store)
    assert r"spark_catalog.raw.`[red]a\x1b]0;b\x07`" in listed
    data.unlink()
    unknown = CliRunner().invoke(main, ["show", "a\x1b[2J\udcff", "--store", store.root])
    assert unknown.exit_code == 2
    assert r"a\x1b[2J\udcff" in unknown.output
    for output in (listed, unknown.output, shown("list", store, code=1)):
        assert not {"\x1b", "\x07"} & set(output)
