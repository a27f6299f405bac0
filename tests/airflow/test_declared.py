"""How the DAG processor reads the manifest: rarely, from any file system, without Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from spark_joinery.airflow.declared import declared
from spark_joinery.metadata import ManifestNotFoundError, read_manifest

pytestmark = pytest.mark.airflow

PARSE = """
import sys, time

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j", "dbt"):
            raise ModuleNotFoundError(f"no {name}", name=name)

sys.meta_path.insert(0, Absent())
from airflow.sdk import DAG  # what every DAG file pays for, with any provider
from airflow.providers.standard.operators.empty import EmptyOperator
import spark_joinery.airflow.sensors.freshness
from spark_joinery.airflow.dags import joinery_refresh_dag
started = time.process_time()
dag = joinery_refresh_dag(sys.argv[1], task_per=sys.argv[2])
print(time.process_time() - started, len(dag.tasks))
"""


def write(path: Path, models: int, declared_of: int = 1, **more: Any) -> Path:
    """A manifest of about the size that dbt writes for so many models."""
    joinery = {"bloom_filters": [{"keys": ["k"], "where": "k > 0"}], **more}
    source = {"resource_type": "source", "relation_name": "raw.t", "config": {"meta": {"joinery": joinery}}}
    ballast = {"raw_code": "select * from x " * 600, "columns": {f"c{n}": {"name": f"c{n}"} for n in range(40)}}
    nodes = {
        f"model.shop.m{n}": {
            **ballast,
            "resource_type": "model",
            "relation_name": f"marts.m{n}",
            "config": {"materialized": "table", "meta": {"joinery": joinery} if n < declared_of else {}},
        }
        for n in range(models)
    }
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": nodes,
        "sources": {"source.shop.raw.t": source},
    }
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_manifest_is_read_once_and_again_when_it_changes(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "manifest.json", models=3)
    first = declared(path)
    assert first == read_manifest(path).requests
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", _only_below(home))
        assert declared(path) == first
    write(path, models=3, range_indexes=[{"point": "t"}])
    assert declared(path) == read_manifest(path).requests != first


def _only_below(folder: Path) -> Any:
    """A `Path.read_text` that fails for files outside a folder."""
    read_text = Path.read_text

    def read(path: Path, *arguments: Any, **named: Any) -> str:
        assert path.is_relative_to(folder), f"{path} was read"
        return read_text(path, *arguments, **named)

    return read


def test_a_manifest_that_went_is_missing_whatever_is_kept(home: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "manifest.json", models=1)
    declared(path)
    path.unlink()
    with pytest.raises(ManifestNotFoundError, match="no such file"):
        declared(path)


@pytest.mark.parametrize("content", ["", "[]", '{"state": 1}', "\x00"])
def test_a_damaged_copy_is_written_again(home: Path, tmp_path: Path, content: str) -> None:
    path = write(tmp_path / "manifest.json", models=1)
    first = declared(path)
    (copy,) = (home / "joinery" / "manifests").iterdir()
    copy.write_text(content)
    assert declared(path) == first
    assert len(copy.read_text()) > len(content)


def test_a_manifest_that_is_being_written_is_read_again(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """dbt empties the file first and then fills it, also while the DAG runs."""
    path = write(tmp_path / "manifest.json", models=1)
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    with monkeypatch.context() as patch:
        patch.setattr("time.sleep", lambda seconds: path.write_text(whole))
        found = declared(path)
    assert found == declared(path) == read_manifest(path).requests


def test_what_cannot_be_kept_is_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "file"))
    path = write(tmp_path / "manifest.json", models=1)
    assert declared(path) == read_manifest(path).requests


def test_a_manifest_may_lie_in_an_object_store(home: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "manifest.json", models=1)
    for _ in range(2):
        assert declared(f"file://{path}") == read_manifest(path).requests
    write(path, models=2, declared_of=2)
    assert declared(f"file://{path}") == read_manifest(path).requests
    path.unlink()
    with pytest.raises(ManifestNotFoundError, match=f"{path}: no such file"):
        declared(f"file://{path}")


def test_a_relative_path_says_where_it_was_looked_for(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ManifestNotFoundError, match=rf"looked for below {tmp_path}: give an absolute one"):
        declared("target/manifest.json")


def test_a_thousand_models_are_parsed_in_a_second_without_spark(home: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "manifest.json", models=1000, declared_of=300)
    assert path.stat().st_size > 10_000_000
    for _ in range(2):  # first from the manifest, then from its copy
        done = subprocess.run(
            [sys.executable, "-c", PARSE, str(path), "artifact"],
            env={**os.environ, "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        seconds, tasks = done.stdout.split()[-2:]
        assert float(seconds) < 1
        assert int(tasks) == 303
