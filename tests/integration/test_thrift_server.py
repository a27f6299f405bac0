"""LAST JOIN through a Thrift server: from a Hive client, and from dbt's `thrift` connection."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyhive import hive
from spark_joinery import __version__, jar_path
from support.servers import free_port, server

pytestmark = [pytest.mark.server, pytest.mark.dbt]


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder, port = tmp_path_factory.mktemp("thrift"), free_port()
    confs = {
        # Thrift servers need the jar on the driver's class path, not in spark.jars alone. When a client disconnects,
        # Hive closes the class loader that holds spark.jars, and no more classes can be loaded from it.
        "spark.driver.extraClassPath": str(jar_path()),
        # a metastore in memory has nothing to lock and nothing to clean up
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:joinery;create=true",
        "spark.hadoop.hive.server2.thrift.port": str(port),
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
    }
    with server(folder, "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", port, confs):
        yield port


def query(port: int, *statements: str) -> list[tuple[object, ...]]:
    connection = hive.Connection(host="127.0.0.1", port=port, auth="NONE")
    try:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        return list(cursor.fetchall())
    finally:
        connection.close()


def test_hive_client(port: int) -> None:
    assert query(port, "SELECT joinery_version()") == [(__version__,)]
    last_join = """
        SELECT l.id, r.id FROM range(3) l LAST JOIN (SELECT id, id % 2 AS k FROM range(6)) r
        ORDER BY r.id ON l.id = r.k AND r.id < 4 + l.id"""
    assert sorted(query(port, last_join), key=repr) == [(0, 2), (1, 3), (2, None)]
    (plan,) = query(port, f"EXPLAIN {last_join}")
    assert "BroadcastLastJoin" in str(plan[0])


def test_dbt_model(port: int, tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: over_thrift\nprofile: over_thrift\nmodel-paths: [models]\n")
    (tmp_path / "profiles.yml").write_text(f"""
over_thrift:
  target: thrift
  outputs:
    thrift: {{type: spark, method: thrift, host: 127.0.0.1, port: {port}, auth: NONE, schema: over_thrift, threads: 1}}
""")
    (tmp_path / "models").mkdir()
    (tmp_path / "models/latest.sql").write_text("""
{{ config(materialized='table') }}
select l.id, r.id as found
from range(3) l
last join (select id, id % 2 as k from range(6)) r order by r.id on l.id = r.k
""")
    command = [str(Path(sys.executable).parent / "dbt"), "run", "--project-dir", ".", "--profiles-dir", "."]
    environment = {**os.environ, "DO_NOT_TRACK": "1"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout
    assert sorted(query(port, "SELECT * FROM over_thrift.latest"), key=repr) == [(0, 4), (1, 5), (2, None)]
