"""Every macro runs in both modes and in every profile, and dbt compares the models with expected seeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from spark_joinery import jar_path
from support.dbt_project import Dbt
from support.integration_project import (
    BUILT,
    FOR_THE_JAR,
    compiled,
    copy_project,
    environment,
    outcomes,
    run,
    variables,
)
from support.servers import free_port, server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt
MODES = {"auto": "extension", "portable": "portable"}
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
THRIFT = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"


def assert_built(project: Path, mode: str) -> None:
    """Assert that every node succeeded, and that the compiled SQL is of the mode."""
    assert outcomes(project) == BUILT
    sql = compiled(project)
    assert [text in sql for text in FOR_THE_JAR] == [MODES[mode] == "extension"] * len(FOR_THE_JAR)


@pytest.mark.parametrize("mode", MODES)
def test_in_the_session_of_this_process(
    spark: SparkSession, dbt: Dbt, tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment(f"integration_{mode}").items():
        monkeypatch.setenv(name, value)
    project = Dbt(copy_project(tmp_path / "project"))
    assert project.invoke("deps").success, project.log
    result = project.invoke("build", "--vars", variables(mode))
    spark.sql(f"drop schema integration_{mode} cascade")
    assert result.success, project.log
    assert_built(project.folder, mode)
    # logged once in the run, though all models ask for the mode, in two threads
    assert len([line for line in project.log if f"joinery: {MODES[mode]} mode" in line]) == 1, project.log


@pytest.mark.soak
@pytest.mark.server
@pytest.mark.parametrize("profile", ["session over Spark Connect", "thrift"])
def test_on_a_server(profile: str, tmp_path: Path) -> None:
    port = free_port()
    if profile == "thrift":
        target, main_class, variables_ = "thrift", THRIFT, {"JOINERY_TEST_PORT": str(port)}
        confs = {
            # tests/integration/test_thrift_server.py says why
            "spark.driver.extraClassPath": str(jar_path()),
            "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:joinery;create=true",
            "spark.hadoop.hive.server2.thrift.port": str(port),
            "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
        }
    else:
        target, main_class, variables_ = "session", CONNECT, {"SPARK_REMOTE": f"sc://127.0.0.1:{port}"}
        confs = {"spark.connect.grpc.binding.port": str(port), "spark.sql.catalogImplementation": "in-memory"}
    project = copy_project(tmp_path / "project")
    run(project, environment("any"), "deps")
    with server(tmp_path, main_class, port, confs):
        for mode in MODES:
            command = ["build", "--target", target, "--vars", variables(mode)]
            run(project, environment(f"integration_{mode}", **variables_), *command)
            assert_built(project, mode)
