"""Whether a server answers, asked before Spark is started: Spark itself takes minutes to give up, and is vague then."""

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
    See whether anybody listens at the address of a standalone master or a Spark Connect server.

    :param master: as Spark takes it; other masters are left to Spark
    :raises AirflowException: if nobody does; a retry may find that somebody does again
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
        f"nobody answers at the Spark master '{without_credentials(master)}' ({'; '.join(problems)}): start it, or "
        "correct the connection's field 'Spark master'"
    )
