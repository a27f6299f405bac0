"""How Spark is started: the command line, the settings, the environment. (Spark itself: test_application.py.)"""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowFailException
from spark_joinery import jar_path
from spark_joinery.airflow.target import SparkTarget
from spark_joinery.batch import Batch, BatchFolder
from spark_joinery.jar import EXTENSION

pytestmark = pytest.mark.airflow


@pytest.fixture
def folder(tmp_path: Path) -> BatchFolder:
    return BatchFolder.create(tmp_path / "run", Batch([]))


@pytest.fixture
def spark_submit(tmp_path: Path) -> str:
    """A program named `spark-submit` that does nothing."""
    program = tmp_path / "spark-submit"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    return str(program)


def properties(folder: BatchFolder) -> dict[str, str]:
    lines = (folder.path / "spark.properties").read_text().splitlines()
    return dict(line.replace("\\ ", " ").split("=", 1) for line in lines)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (
            {"master": "yarn", "deploy_mode": "cluster", "options": ("--queue", "nightly")},
            ["--master", "yarn", "--deploy-mode", "cluster", "--queue", "nightly"],
        ),
        (
            {
                "master": "k8s://https://10.0.0.1:6443",
                "deploy_mode": "cluster",
                "options": ("--conf", "spark.kubernetes.namespace=etl"),
            },
            [
                *("--master", "k8s://https://10.0.0.1:6443", "--deploy-mode", "cluster"),
                *("--conf", "spark.kubernetes.namespace=etl"),
            ],
        ),
        ({"master": "spark://driver:7077"}, ["--master", "spark://driver:7077", "--deploy-mode", "client"]),
        ({}, ["--master", "local[*]", "--deploy-mode", "client"]),
    ],
    ids=["yarn", "kubernetes", "standalone", "embedded"],
)
def test_clusters_are_reached_by_spark_submit(
    folder: BatchFolder, spark_submit: str, arguments: dict[str, Any], options: list[str]
) -> None:
    program, *given, script, path = SparkTarget(spark_submit=spark_submit, **arguments).command(folder)
    common = ["--name", "joinery", "--properties-file", f"{folder.path}/spark.properties", "--load-spark-defaults"]
    assert program == spark_submit
    assert given == [*options[:4], *common, *options[4:]]
    assert (Path(script).name, Path(script).exists(), path) == ("batch.py", True, str(folder.path))


def test_a_connect_server_is_reached_by_its_client(folder: BatchFolder) -> None:
    target = SparkTarget(master="sc://spark.example.org:15002", confs={"spark.sql.shuffle.partitions": "4"})
    assert target.command(folder) == [sys.executable, "-m", "spark_joinery.jobs.batch", str(folder.path)]
    assert target.session_confs == {
        "spark.remote": "sc://spark.example.org:15002",
        "spark.sql.shuffle.partitions": "4",
    }
    target.prepare(folder)
    assert not (folder.path / "spark.properties").exists()


def test_settings_are_in_a_file_that_nobody_else_reads(folder: BatchFolder, spark_submit: str) -> None:
    confs = {"spark.hadoop.fs.s3a.secret.key": "a=b:c #d\\e", "spark.app.title": " 名前 "}
    target = SparkTarget(master="yarn", spark_submit=spark_submit, confs=confs)
    target.prepare(folder)
    assert "secret" not in " ".join(target.command(folder))
    file = folder.path / "spark.properties"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert file.read_text() == ("spark.app.title=\\ 名前\\ \nspark.hadoop.fs.s3a.secret.key=a\\=b\\:c\\ \\#d\\\\e\n")


def test_an_embedded_spark_loads_the_jar_beside_what_it_loads_already(
    folder: BatchFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    SparkTarget(confs={"spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension"}).prepare(folder)
    assert properties(folder)["spark.sql.extensions"] == f"io.delta.sql.DeltaSparkSessionExtension,{EXTENSION}"
    assert properties(folder)["spark.jars"] == str(jar_path())


@pytest.mark.parametrize("master", ["yarn", "spark://driver:7077"])
def test_a_cluster_gets_no_jar_of_this_machine(folder: BatchFolder, spark_submit: str, master: str) -> None:
    SparkTarget(master=master, spark_submit=spark_submit).prepare(folder)
    assert properties(folder) == {}


def test_a_remote_of_the_environment_does_not_win_over_the_master(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere")
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    environment = SparkTarget().environment()
    assert "SPARK_REMOTE" not in environment
    assert environment["PYSPARK_PYTHON"] == sys.executable
    assert "PYSPARK_PYTHON" not in SparkTarget(master="yarn", deploy_mode="cluster").environment()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"deploy_mode": "klient"}, "deploy mode is 'klient', expected 'client' or 'cluster'"),
        (
            {"deploy_mode": "cluster", "master": "spark://driver:7077"},
            "deploy mode is 'cluster', but the Spark master is 'spark://driver:7077'.*set it to 'client'",
        ),
        ({"deploy_mode": "cluster"}, r"deploy mode is 'cluster', but the Spark master is 'local\[\*\]'"),
    ],
)
def test_impossible_places_are_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(AirflowFailException, match=says):
        SparkTarget(**arguments)


def test_a_program_that_is_not_there_is_named(folder: BatchFolder) -> None:
    with pytest.raises(AirflowFailException, match=r"spark-submit is not at /nowhere/spark-submit: install pyspark"):
        SparkTarget(spark_submit="/nowhere/spark-submit").command(folder)
