"""Errors name a server that does not answer, and come at once. (Servers that answer: test_clusters.py.)"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
from airflow.providers.common.compat.sdk import AirflowException
from spark_joinery.airflow.hooks.joinery import JoineryHook
from spark_joinery.airflow.reachable import ensure_reachable
from support.servers import free_port

pytestmark = pytest.mark.airflow


@pytest.fixture
def listening() -> Iterator[int]:
    """The port of a server."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_what_listens_is_reachable(listening: int) -> None:
    ensure_reachable(f"spark://127.0.0.1:{listening}")
    ensure_reachable(f"spark://127.0.0.1:{free_port()},127.0.0.1:{listening}")
    ensure_reachable(f"sc://127.0.0.1:{listening}/;token=abc")


@pytest.mark.parametrize("master", ["local[2]", "yarn", "k8s://https://127.0.0.1:1", "local-cluster[1,1,1024]"])
def test_other_masters_are_left_to_spark(master: str) -> None:
    ensure_reachable(master)


def test_a_proxy_is_left_to_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("grpc_proxy", "http://proxy:3128")
    ensure_reachable(f"sc://127.0.0.1:{free_port()}")


@pytest.mark.parametrize("master", ["spark://127.0.0.1:{}", "sc://127.0.0.1:{}/;token=hunter2"])
def test_a_server_that_does_not_answer_is_named(master: str, monkeypatch: pytest.MonkeyPatch) -> None:
    address = master.format(free_port())
    connection = {"conn_type": "joinery", "host": address, "extra": {"store": "/nowhere"}}
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps(connection))
    with pytest.raises(AirflowException) as refused:
        JoineryHook("lake").start([], full_refresh=False)
    shown = str(refused.value)
    assert shown.startswith(
        f"no answer from the Spark master '{address.replace('hunter2', '***')}' (Connection refused)"
    )
    assert "correct the connection's field 'Spark master'" in shown
