"""The same refresh on a real standalone cluster and on a real Spark Connect server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from airflow.providers.common.compat.sdk import AirflowException
from spark_joinery.airflow.operators.joinery import JoineryRefreshOperator
from spark_joinery.store import ArrowFileSystem, ArtifactStore, list_artifacts
from support.servers import free_port, server, standalone_cluster

pytestmark = [pytest.mark.airflow, pytest.mark.server, pytest.mark.soak, pytest.mark.timeout(900)]

DECLARED = {"bloom_filters": [{"keys": ["k"]}], "range_indexes": [{"point": "k"}]}
CONNECT_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """A manifest that declares two artifacts of a source of a million keys."""
    (tmp_path / "source").mkdir()
    pq.write_table(pa.table({"k": list(range(1_000_000))}), tmp_path / "source" / "part.parquet")
    node = {
        "resource_type": "source",
        "relation_name": f"parquet.`{tmp_path}/source`",
        "config": {"meta": {"joinery": DECLARED}},
    }
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {},
        "sources": {"source.shop.raw.t": node},
    }
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def connect_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that points the connection `joinery_default` at a master."""

    def make(master: str, **conf: str) -> None:
        extra = {"store": str(tmp_path / "store"), "conf": {"spark.ui.enabled": "false", **conf}}
        connection = {"conn_type": "joinery", "host": master, "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_JOINERY_DEFAULT", json.dumps(connection))
        monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")

    return make


@pytest.fixture
def standalone(tmp_path: Path, connect_to: Any) -> Iterator[str]:
    with standalone_cluster(tmp_path, workers=2) as master:
        connect_to(
            master,
            **{
                "spark.sql.catalogImplementation": "in-memory",
                "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.executor.memory": "512m",
            },
        )
        yield master


def refreshed(manifest: Path, full_refresh: bool = False) -> list[tuple[str, str, int]]:
    operator = JoineryRefreshOperator(task_id="t", manifest=manifest, full_refresh=full_refresh)
    return [(one["kind"], one["status"], one["rows"]) for one in operator.execute({})]


ALL = [("bloom_filter", "refreshed", 1_000_000), ("range_index", "refreshed", 1_000_000)]
UNCHANGED = [(kind, "unchanged", rows) for kind, _, rows in ALL]


@pytest.mark.usefixtures("standalone")
def test_a_standalone_cluster(manifest: Path) -> None:
    assert refreshed(manifest) == ALL
    assert refreshed(manifest) == UNCHANGED


def executors(folder: Path) -> list[int]:
    """Processes of the executors whose cluster works below a folder."""
    shown = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True, check=False)
    pids = [int(pid) for pid in shown.stdout.split()]
    return [pid for pid in pids if Path(f"/proc/{pid}/cwd").resolve().is_relative_to(folder)]


@pytest.mark.usefixtures("standalone")
def test_an_executor_that_is_killed_costs_time_only(manifest: Path, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_first() -> None:
        deadline = time.monotonic() + 120
        while not killed and time.monotonic() < deadline:
            for pid in executors(tmp_path):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            time.sleep(0.1)

    killer = threading.Thread(target=kill_first)
    killer.start()
    assert refreshed(manifest) == ALL
    killer.join()
    assert killed
    assert refreshed(manifest) == UNCHANGED


def workers(folder: Path, number: int) -> list[int]:
    """Ids of the processes of a worker and its executors."""
    place = str(folder / f"work-{number}")
    shown = subprocess.run(["ps", "-ww", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    named = [int(row.split()[0]) for row in shown.splitlines() if place in row]
    return named + [pid for pid in executors(folder) if str(Path(f"/proc/{pid}/cwd").resolve()).startswith(place)]


class Reader(threading.Thread):
    """Reads the artifacts of a store again and again, as queries do, and records every problem."""

    def __init__(self, store: Path) -> None:
        super().__init__()
        self._store = ArtifactStore(str(store), ArrowFileSystem())
        self._artifacts = list_artifacts(self._store)
        self.ended = threading.Event()
        self.looks = 0
        self.problems: list[str] = []

    def run(self) -> None:
        while not self.ended.is_set():
            for each in self._artifacts:
                found = self._store.current(each.kind, each.relation, each.spec_hash)
                if found.damaged or found.version is None:
                    self.problems.append(f"{each}: {found.reason}")
            self.looks += 1
            time.sleep(0.05)

    def versions(self) -> list[str]:
        found = [self._store.current(each.kind, each.relation, each.spec_hash).version for each in self._artifacts]
        return [version.name for version in found if version]


@pytest.mark.usefixtures("standalone")
def test_a_worker_that_is_killed_leaves_what_was_published_whole_and_in_use(manifest: Path, tmp_path: Path) -> None:
    assert refreshed(manifest) == ALL
    reader = Reader(tmp_path / "store")
    first = reader.versions()
    assert len(first) == 2
    killed: list[int] = []

    def kill_first() -> None:
        deadline = time.monotonic() + 120
        # the worker, and an executor of it
        while len(workers(tmp_path, 0)) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        for pid in workers(tmp_path, 0):
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    killer = threading.Thread(target=kill_first)
    reader.start()
    killer.start()
    try:
        outcome = refreshed(manifest, full_refresh=True)
    except AirflowException:
        # its retry
        outcome = refreshed(manifest, full_refresh=True)
    finally:
        killer.join()
        reader.ended.set()
        reader.join()
    assert len(killed) >= 2
    assert outcome == ALL
    assert (reader.problems, reader.looks > 10) == ([], True)
    assert all(later > earlier for earlier, later in zip(first, reader.versions(), strict=True))


def test_a_connect_server(manifest: Path, tmp_path: Path, connect_to: Any) -> None:
    port = free_port()
    confs = {"spark.connect.grpc.binding.port": str(port), "spark.connect.grpc.binding.address": "127.0.0.1"}
    with server(tmp_path, CONNECT_SERVER, port, confs):
        connect_to(f"sc://127.0.0.1:{port}")
        assert refreshed(manifest) == ALL
        assert refreshed(manifest) == UNCHANGED
