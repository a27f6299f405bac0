"""Check that a server answers before Spark starts: Spark itself takes minutes to give up, and its error is vague."""

from __future__ import annotations

import os
import re
import socket

from airflow.providers.common.compat.sdk import AirflowException

from spark_joinery.airflow.credentials import without_credentials
from spark_joinery.cause import refusal

_TIMEOUT_S = 10.0
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
_SERVERS = re.compile(r"(?P<scheme>spark|sc)://(?P<servers>[^/;]+)")
_SERVER = re.compile(r"(?:.*@)?\[?(?P<host>[^\]]+?)\]?(?::(?P<port>\d+))?$")
_PORTS = {"spark": 7077, "sc": 15002}


def ensure_reachable(master: str) -> None:
    """
    Check that a server listens at the address of a standalone master or of Spark Connect.

    :param master: as in Spark's settings; other kinds of master are not checked
    :raises AirflowException: if no server listens; it may do so again at a retry
    """
    named = _SERVERS.match(master)
    if named is None or (named["scheme"] == "sc" and any(os.environ.get(name) for name in _PROXIES)):
        return
    problems = []
    for server in named["servers"].split(","):
        at = _SERVER.match(server)
        if at is None:
            return
        try:
            socket.create_connection((at["host"], int(at["port"] or _PORTS[named["scheme"]])), _TIMEOUT_S).close()
            return
        except OSError as error:
            problems.append(refusal(error))
    raise AirflowException(
        f"no answer from the Spark master '{without_credentials(master)}' ({'; '.join(problems)}): start it, or "
        "correct the connection's field 'Spark master'"
    )
