"""Connections of Airflow's own Spark provider, read without installing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from airflow.providers.common.compat.sdk import AirflowFailException

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Connection

_TYPES = ("spark", "spark_connect")


@dataclass(frozen=True)
class SparkConnection:
    """
    The settings in a connection of type ``spark`` or ``spark_connect``.

    :param master: master or address of the Connect server
    :param deploy_mode: "client" or "cluster", if it says so
    :param spark_submit: program, if it names one
    :param options: further options of ``spark-submit``
    """

    master: str
    deploy_mode: str | None = None
    spark_submit: str | None = None
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, connection: Connection) -> SparkConnection:
        """
        Read a connection as the official provider does.

        :param connection: the connection
        :return: its settings
        :raises AirflowFailException: if it is of another type or has no host
        """
        if connection.conn_type not in _TYPES:
            raise AirflowFailException(
                f"connection '{connection.conn_id}' is of type '{connection.conn_type}', expected 'spark' or "
                "'spark_connect': correct 'spark_conn_id' in the extra of the Joinery connection"
            )
        if not connection.host:
            raise AirflowFailException(f"connection '{connection.conn_id}': the host is empty, expected a Spark master")
        master = f"{connection.host}:{connection.port}" if connection.port else connection.host
        extra = connection.extra_dejson
        if connection.conn_type == "spark_connect":
            return cls(_remote(master, connection))
        options = [
            word
            for option, key in (("--queue", "queue"), ("--keytab", "keytab"), ("--principal", "principal"))
            if extra.get(key)
            for word in (option, str(extra[key]))
        ]
        if extra.get("namespace"):
            options += ["--conf", f"spark.kubernetes.namespace={extra['namespace']}"]
        return cls(master, extra.get("deploy-mode"), extra.get("spark-binary"), tuple(options))


def _remote(host: str, connection: Connection) -> str:
    """The address of a Connect server, with what the connection says about the user."""
    address = host if host.startswith("sc://") else f"sc://{host}"
    fields = {"user_id": connection.login, "token": connection.password}
    if is_set(connection.extra_dejson.get("use_ssl")):
        fields["use_ssl"] = "true"
    # a token may hold "=" and ";": Spark splits the address there first, and then decodes the pieces
    parameters = ";".join(f"{key}={quote(value, safe='')}" for key, value in fields.items() if value)
    return f"{address}/;{parameters}" if parameters else address


def is_set(flag: object) -> bool:
    """
    Whether a flag in a connection's extra is set.

    :param flag: true or false, or a text such as "yes" if the connection is written as a URI
    :return: False if the flag is absent
    """
    return str(flag).strip().lower() in ("true", "t", "1", "yes", "y", "on")
