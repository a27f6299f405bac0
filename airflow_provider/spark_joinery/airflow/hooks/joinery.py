"""Spark and the artifact store, as an Airflow connection describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from airflow.providers.common.compat.sdk import AirflowFailException, AirflowNotFoundException, BaseHook, mask_secret
from typing_extensions import Self

from spark_joinery.airflow.application import SparkApplication
from spark_joinery.airflow.credentials import without_credentials
from spark_joinery.airflow.hooks.jvm import end_jvm, jvm_runs
from spark_joinery.airflow.hooks.spark_connection import SparkConnection, is_set
from spark_joinery.airflow.pages import Pages
from spark_joinery.airflow.reachable import ensure_reachable
from spark_joinery.airflow.target import CONNECT_SCHEME, DEFAULT_MASTER, DeployMode, SparkTarget
from spark_joinery.batch import Batch, Progress

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Connection
    from pyspark.sql import SparkSession

    from spark_joinery.metadata import ArtifactRequest
    from spark_joinery.store import ArtifactStore

DEFAULT_SCHEMA = "joinery"

# a task looks after its process four times a second; a trigger may be away while its triggerer is replaced
_ORPHAN_AFTER_S = 60.0
_ORPHAN_AFTER_DEFERRED_S = 900.0
# Spark itself gives up after a minute if no master answers
_TEST_LIMIT_S = 90.0


class JoineryHook(BaseHook):
    """
    Interact with Spark and Joinery's artifact store.

    Refreshes run in a process of their own, on the Spark that :attr:`target` describes. For other uses the hook is a
    context manager. At its end it stops the Spark session and the JVM that it started. The next task, or dbt, then
    finds an embedded metastore unlocked.

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
        :raises AirflowFailException: if there is none, or it is of another type
        """
        connection = _existing(self.joinery_conn_id, "name another one with joinery_conn_id")
        if connection.conn_type != self.conn_type:
            raise AirflowFailException(
                f"connection '{self.joinery_conn_id}' is of type '{connection.conn_type}', expected "
                f"'{self.conn_type}': name another one with joinery_conn_id, or change its type to 'Joinery (Spark)'"
            )
        return connection

    @property
    def master(self) -> str:
        """
        Spark master.

        :return: field "Spark master", else that of the Spark connection, else all local cores
        """
        return self.connection.host or (self.spark_connection.master if self.spark_connection else DEFAULT_MASTER)

    @cached_property
    def spark_connection(self) -> SparkConnection | None:
        """
        The connection of Airflow's own Spark provider that this one builds on.

        :return: the one that ``spark_conn_id`` in extra names; None without it
        :raises AirflowFailException: if there is no such connection, or it is of another type
        """
        conn_id = self._extra("spark_conn_id")
        return SparkConnection.of(_existing(conn_id, "correct 'spark_conn_id' in the extra")) if conn_id else None

    @property
    def target(self) -> SparkTarget:
        """
        The Spark that refreshes run on.

        :return: made of the connection's fields; the Spark connection fills in the ones that are empty
        :raises AirflowFailException: if a field cannot be used
        """
        spark = self.spark_connection or SparkConnection(master=DEFAULT_MASTER)
        confs = self.spark_confs()
        master, remote = confs.pop("spark.master", DEFAULT_MASTER), confs.pop("spark.remote", None)
        return SparkTarget(
            master=remote or master,
            deploy_mode=cast("DeployMode", self._extra("deploy_mode") or spark.deploy_mode or "client"),
            spark_submit=self._extra("spark_submit") or spark.spark_submit,
            options=spark.options,
            confs=confs,
        )

    @property
    def run_dir(self) -> str | None:
        """
        Directory in which workers, drivers and triggerers find each other's runs.

        :return: ``run_dir`` in extra; None without it: a run can then only be found on its worker
        :raises AirflowFailException: if it is a relative path
        """
        return self._absolute("run_dir")

    @property
    def pages(self) -> Pages | None:
        """
        The place where tasks leave their report and, if it may show values, the driver's log.

        :return: ``report_dir``, ``report_url`` and ``report_values`` in extra; None without the first
        """
        directory = self._extra("report_dir")
        shows_values = is_set(self.connection.extra_dejson.get("report_values"))
        return Pages(directory, self._extra("report_url"), shows_values) if directory else None

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
        :raises AirflowFailException: without either
        """
        store = self._store or self._extra("store")
        if not store:
            raise AirflowFailException(
                f"connection '{self.joinery_conn_id}': field 'Artifact store' (\"store\" in extra) is empty; "
                "give the directory that the queries name in spark.joinery.store"
            )
        return store

    @property
    def conf(self) -> dict[str, str]:
        """
        Further Spark confs.

        :return: from the connection's field "Spark configuration"
        :raises AirflowFailException: if that is not a JSON object of texts, numbers and truth values
        """
        conf = self.connection.extra_dejson.get("conf") or {}
        if isinstance(conf, str):  # forms of older Airflow versions hand objects over as text
            try:
                conf = json.loads(conf)
                mask_secret(conf)  # Airflow masks secrets only in objects
            except ValueError as error:
                raise AirflowFailException(
                    f"connection '{self.joinery_conn_id}': \"conf\" is not JSON: {error}"
                ) from error
        if not isinstance(conf, dict):
            raise AirflowFailException(
                f"connection '{self.joinery_conn_id}': \"conf\" is a {type(conf).__name__}, expected an object: "
                '{"spark.driver.memory": "2g"}'
            )
        for key, value in conf.items():
            if not isinstance(value, (str, int, float)):
                found = "null" if value is None else f"a {type(value).__name__}"
                raise AirflowFailException(
                    f"connection '{self.joinery_conn_id}': \"conf\": {key} is {found}, expected a text, a number, true "
                    "or false; leave out what is not to be set"
                )
        # Spark reads "true", not "True"
        return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in conf.items()}

    def spark_confs(self) -> dict[str, str]:
        """
        Everything the connection says about Spark, as confs.

        :return: all fields; "Spark configuration" wins over the other ones
        :raises AirflowFailException: if a field cannot be used
        """
        fields = {"spark.remote" if self.master.startswith(CONNECT_SCHEME) else "spark.master": self.master}
        if metastore := self._absolute("metastore_dir"):
            fields["spark.hadoop.javax.jdo.option.ConnectionURL"] = f"jdbc:derby:;databaseName={metastore};create=true"
        if warehouse := self._absolute("warehouse_dir", or_uri=True):
            fields["spark.sql.warehouse.dir"] = warehouse
        return fields | self.conf

    def start(self, requests: list[ArtifactRequest], *, full_refresh: bool, stays: bool = False) -> SparkApplication:
        """
        Start a process that refreshes artifacts.

        :param requests: the artifacts to refresh; an empty list only checks that Spark and the store can be reached
        :param full_refresh: read everything, even if little or nothing is new
        :param stays: whether it goes on after this process has ended, while a trigger waits for it
        :return: the running application
        :raises spark_joinery.jobs.MetastoreLockedError: within 10 s, if another process holds the Derby metastore
        :raises AirflowException: within 10 s, if a standalone master or a Connect server does not answer
        :raises AirflowFailException: if the connection cannot be used
        """
        target = self.target
        if target.deploy_mode == "cluster" and not self.run_dir:
            raise AirflowFailException(
                f"connection '{self.joinery_conn_id}': \"run_dir\" is empty, which a driver in the cluster needs: "
                "give a directory that workers, drivers and triggerers share"
            )
        if target.is_local:
            _ensure_metastore_free(target.confs)
        if target.deploy_mode == "client":
            ensure_reachable(target.master)
        batch = Batch(
            requests,
            store=self.store,
            schema=self.schema,
            full_refresh=full_refresh,
            confs=target.session_confs,
            orphan_after_s=_ORPHAN_AFTER_DEFERRED_S if stays else _ORPHAN_AFTER_S,
            report=("values" if self.pages.shows_values else "redacted") if self.pages and requests else None,
        )
        return SparkApplication.start(target, batch, self.run_dir)

    def get_conn(self) -> SparkSession:
        """
        Start Spark, or take the session that this hook already started.

        :return: a session with the Joinery extension and Hive support
        :raises spark_joinery.jobs.MetastoreLockedError: within 10 s, if another JVM holds the Derby metastore
        """
        if self._spark is None:
            # local, because the scheduler and the web server read this module without needing Spark
            from spark_joinery.jobs.session import build_session

            self._owns_jvm = not jvm_runs()
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
            end_jvm()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def test_connection(self) -> tuple[bool, str]:
        """
        Start Spark and open the store; the button "Test" of the connection form.

        Spark runs in a process of its own, unless this hook already has a session. The API server, which calls this,
        must keep neither a JVM nor the settings of its session.

        :return: whether it works, and the versions found or the error
        """
        try:
            found = self._found_in_session() if self._spark else self._found_by_process()
        except Exception as error:  # the form shows any error as a text
            return False, without_credentials(str(error))
        loaded = "loaded" if found.extension else "not loaded (the jobs do not need it; `joinery doctor` says why)"
        text = f"Spark {found.spark}, store {found.store}, Joinery extension {loaded}"
        return not found.error, without_credentials(found.error or text)

    def _found_in_session(self) -> Progress:
        spark = self.get_conn()
        loaded = spark.sql("SHOW FUNCTIONS LIKE 'joinery_version'").count() > 0
        return Progress(spark=spark.version, store=self.get_store().root, extension=loaded)

    def _found_by_process(self) -> Progress:
        application = self.start([], full_refresh=False)
        try:
            return application.wait(limit_s=_TEST_LIMIT_S)
        finally:
            application.cancel()
            application.folder.remove()

    def _extra(self, field: str) -> str | None:
        """
        A text field of the connection.

        :param field: key in extra
        :return: None if it is absent or empty
        """
        return self.connection.extra_dejson.get(field) or None

    def _absolute(self, field: str, *, or_uri: bool = False) -> str | None:
        """
        A directory of the connection; it must not depend on the directory in which a process starts.

        :param field: key in extra
        :param or_uri: whether it may be on another file system
        :return: None if it is absent or empty
        :raises AirflowFailException: if it is a relative path
        """
        place = self._extra(field)
        if place is None or PurePath(place).is_absolute() or (or_uri and ":/" in place):
            return place
        raise AirflowFailException(
            f"connection '{self.joinery_conn_id}': \"{field}\" is '{place}', expected an absolute path"
            f"{' or a URI' if or_uri else ''}, as tasks run in the directory of their worker"
        )


def _existing(conn_id: str, remedy: str) -> Connection:
    """
    Find a connection.

    :param conn_id: its id
    :param remedy: what the user can do instead of adding it
    :return: the connection
    :raises AirflowFailException: if there is none; a retry cannot help
    """
    try:
        return JoineryHook.get_connection(conn_id)
    except AirflowNotFoundException as error:
        raise AirflowFailException(
            f"connection '{conn_id}' does not exist: add one of type 'Joinery (Spark)', or {remedy}"
        ) from error


def _ensure_metastore_free(confs: Mapping[str, str]) -> None:
    """
    Fail at once if another process uses the embedded metastore: a JVM would take seconds to say so.

    :param confs: of the session to come
    :raises spark_joinery.jobs.MetastoreLockedError: if another process keeps it open
    """
    try:
        from spark_joinery.jobs.session import ensure_metastore_of
    except ModuleNotFoundError:
        return  # without pyspark, the worker runs another installation of Spark, which checks this itself
    ensure_metastore_of(confs)
