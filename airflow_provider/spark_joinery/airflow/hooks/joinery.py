"""Spark and the artifact store, as an Airflow connection describes them."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowException
from airflow.sdk.log import mask_secret
from typing_extensions import Self

if TYPE_CHECKING:
    from airflow.sdk import Connection
    from pyspark.sql import SparkSession

    from spark_joinery.store import ArtifactStore

DEFAULT_MASTER = "local[*]"
DEFAULT_SCHEMA = "joinery"


class JoineryHook(BaseHook):
    """
    Interact with Spark and Joinery's artifact store.

    A context manager: at its end the Spark session that it started is stopped, and with it the JVM, so that the next
    task, or dbt, finds an embedded metastore unlocked.

    :param joinery_conn_id: connection of type ``joinery``
    :param store: directory of the artifact store, in place of the connection's
    :param schema: schema in which distributions are registered, in place of the connection's
    """

    conn_name_attr = "joinery_conn_id"
    default_conn_name = "joinery_default"
    conn_type = "joinery"
    hook_name = "Joinery (Spark)"

    def __init__(
        self, joinery_conn_id: str = default_conn_name, *, store: str | None = None, schema: str | None = None
    ) -> None:
        super().__init__()
        self.joinery_conn_id = joinery_conn_id
        self._store = store
        self._schema = schema
        self._spark: SparkSession | None = None
        self._owns_jvm = False

    @cached_property
    def connection(self) -> Connection:
        """
        The Airflow connection.

        :return: read once
        """
        return self.get_connection(self.joinery_conn_id)

    @property
    def master(self) -> str:
        """
        Spark master.

        :return: field "Spark master", all local cores without one
        """
        return self.connection.host or DEFAULT_MASTER

    @property
    def schema(self) -> str:
        """
        Schema in which distributions are registered.

        :return: the argument, else the connection's, else ``joinery``
        """
        return self._schema or self.connection.schema or DEFAULT_SCHEMA

    @property
    def store(self) -> str:
        """
        Directory of the artifact store.

        :return: the argument, else the connection's
        :raises AirflowException: without either
        """
        store = self._store or self._extra("store")
        if not store:
            raise AirflowException(
                f"connection '{self.joinery_conn_id}': field 'Artifact store' (\"store\" in extra) is empty; "
                "give the directory that the queries name in spark.joinery.store"
            )
        return store

    @property
    def conf(self) -> dict[str, str]:
        """
        Further Spark confs.

        :return: from the connection's field "Spark configuration"
        :raises AirflowException: if that is not a JSON object
        """
        conf = self.connection.extra_dejson.get("conf") or {}
        if isinstance(conf, str):  # forms of older Airflow versions hand objects over as text
            try:
                conf = json.loads(conf)
                mask_secret(conf)  # Airflow does so with objects only
            except ValueError as error:
                raise AirflowException(f"connection '{self.joinery_conn_id}': \"conf\" is not JSON: {error}") from error
        if not isinstance(conf, dict):
            raise AirflowException(
                f"connection '{self.joinery_conn_id}': \"conf\" is a {type(conf).__name__}, expected an object: "
                '{"spark.driver.memory": "2g"}'
            )
        # Spark reads "true", not "True"
        return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in conf.items()}

    def spark_confs(self) -> dict[str, str]:
        """
        Everything the connection says about Spark, as confs.

        :return: the fields, and over them the field "Spark configuration"
        :raises AirflowException: if a field cannot be used
        """
        fields = {"spark.master": self.master}
        if metastore := self._extra("metastore_dir"):
            if not PurePath(metastore).is_absolute():
                raise AirflowException(
                    f"connection '{self.joinery_conn_id}': \"metastore_dir\" is '{metastore}', expected an absolute "
                    "path, as tasks run in whatever directory their worker has"
                )
            fields["spark.hadoop.javax.jdo.option.ConnectionURL"] = f"jdbc:derby:;databaseName={metastore};create=true"
        if warehouse := self._extra("warehouse_dir"):
            fields["spark.sql.warehouse.dir"] = warehouse
        return fields | self.conf

    def get_conn(self) -> SparkSession:
        """
        Start Spark, or take the session that this hook already started.

        :return: a session with the Joinery extension and Hive support
        :raises spark_joinery.jobs.MetastoreLockedError: within 10 s, if another JVM holds the Derby metastore
        """
        if self._spark is None:
            # local, because the scheduler and the web server read this module without needing Spark
            from spark_joinery.jobs.session import build_session

            self._owns_jvm = not _jvm_runs()
            self._spark = build_session("joinery", self.spark_confs())
        return self._spark

    def get_store(self) -> ArtifactStore:
        """
        Open the artifact store.

        :return: on the file system that its URI names, as Spark knows it
        """
        from spark_joinery.store import open_store

        return open_store(self.get_conn(), self.store)

    def close(self) -> None:
        """Stop the session, and the JVM, if this hook started them; also if the start failed half way."""
        spark, self._spark = self._spark, None
        if self._owns_jvm:
            self._owns_jvm = False
            if spark is not None:
                from spark_joinery.jobs.session import stop_session

                stop_session(spark)
            _end_jvm()

    def kill(self) -> None:
        """End the JVM that this hook started, from a signal handler: whatever it is asked to do then fails at once."""
        self._spark = None
        if self._owns_jvm:
            self._owns_jvm = False
            # not through SparkSession.stop: the interrupted call may be in the midst of talking to the JVM
            _end_jvm()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def test_connection(self) -> tuple[bool, str]:
        """
        Start Spark and open the store; the button "Test" of the connection form.

        :return: whether it works, and what was found
        """
        runs_already = self._spark is not None
        try:
            spark = self.get_conn()
            loaded = spark.sql("SHOW FUNCTIONS LIKE 'joinery_version'").count() > 0
            extension = "loaded" if loaded else "not loaded (the jobs do not need it)"
            return True, f"Spark {spark.version}, store {self.get_store().root}, Joinery extension {extension}"
        except Exception as error:  # whatever it is, the form wants it as a text
            return False, str(error)
        finally:
            if not runs_already:
                self.close()

    def _extra(self, field: str) -> str | None:
        """
        A text field of the connection.

        :param field: key in extra
        :return: None if it is absent or empty
        """
        return self.connection.extra_dejson.get(field) or None


def _jvm_runs() -> bool:
    """
    Look for a JVM in this process.

    :return: whether pyspark has started one, for whomever
    """
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def _end_jvm() -> None:
    """
    End the JVM of this process.

    ``SparkSession.stop`` leaves it running, and with it the lock of the embedded metastore; pyspark has no public way.
    Its launcher ends, and stops the application, when its standard input does.
    """
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()
        process.wait(timeout=60)
