"""The hook turns a connection into settings of Spark. (Spark itself: test_run.py.)"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, redact
from spark_joinery.airflow.credentials import without_credentials
from spark_joinery.airflow.hooks.joinery import JoineryHook
from spark_joinery.airflow.target import SparkTarget

pytestmark = pytest.mark.airflow


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function: fields of the connection, arguments of the hook -> the hook."""

    def make(connection: dict[str, Any], **arguments: str) -> JoineryHook:
        monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps({"conn_type": "joinery", **connection}))
        return JoineryHook("lake", **arguments)

    return make


def test_fields_of_the_connection(hook: Any) -> None:
    conf = {"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": 4, "spark.ui.enabled": False}
    lake = hook({"host": "spark://driver:7077", "schema": "skew", "extra": {"store": "s3a://b/joinery", "conf": conf}})
    assert (lake.master, lake.schema, lake.store) == ("spark://driver:7077", "skew", "s3a://b/joinery")
    assert lake.conf == {
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }


def test_directories_become_confs(hook: Any) -> None:
    lake = hook({"extra": {"metastore_dir": "/m", "warehouse_dir": "/w", "conf": {"spark.master": "local[1]"}}})
    assert lake.spark_confs() == {
        "spark.master": "local[1]",
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:;databaseName=/m;create=true",
        "spark.sql.warehouse.dir": "/w",
    }
    with pytest.raises(AirflowException, match="\"metastore_dir\" is 'm', expected an absolute path"):
        hook({"extra": {"metastore_dir": "m"}}).spark_confs()


def test_a_place_must_not_depend_on_where_a_worker_was_started(hook: Any) -> None:
    with pytest.raises(AirflowFailException, match="\"run_dir\" is 'runs', expected an absolute path, as tasks run in"):
        _ = hook({"extra": {"run_dir": "runs"}}).run_dir
    with pytest.raises(AirflowFailException, match="\"warehouse_dir\" is 'w', expected an absolute path or a URI, as"):
        hook({"extra": {"warehouse_dir": "w"}}).spark_confs()
    lake = hook({"extra": {"run_dir": "/runs", "warehouse_dir": "s3a://bucket/w"}})
    assert (lake.run_dir, lake.spark_confs()["spark.sql.warehouse.dir"]) == ("/runs", "s3a://bucket/w")


def test_defaults(hook: Any) -> None:
    lake = hook({})
    assert (lake.master, lake.schema, lake.conf) == ("local[*]", "joinery", {})


def test_arguments_win_over_the_connection(hook: Any) -> None:
    lake = hook({"schema": "skew", "extra": {"store": "/a"}}, store="/b", schema="mine")
    assert (lake.store, lake.schema) == ("/b", "mine")


def test_conf_as_text(hook: Any) -> None:
    assert hook({"extra": {"conf": '{"spark.eventLog.enabled": true}'}}).conf == {"spark.eventLog.enabled": "true"}


@pytest.mark.parametrize("as_text", [True, False])
def test_secrets_in_conf_are_masked_in_logs(hook: Any, as_text: bool) -> None:
    secret = f"hidden-{as_text}-value"
    conf = {"spark.hadoop.fs.s3a.secret.key": secret, "spark.driver.memory": "visible-value"}
    assert hook({"extra": {"conf": json.dumps(conf) if as_text else conf}}).conf == conf
    assert redact(f"{secret} visible-value") == "*** visible-value"


@pytest.mark.parametrize(
    ("extra", "field", "says"),
    [
        ({}, "store", "connection 'lake': field 'Artifact store' .* is empty"),
        ({"store": ""}, "store", "connection 'lake': field 'Artifact store' .* is empty"),
        ({"conf": "{"}, "conf", "connection 'lake': \"conf\" is not JSON"),
        ({"conf": {"spark.a": None}}, "conf", "connection 'lake': \"conf\": spark.a is null, expected a text"),
        ({"conf": {"spark.a": ["b"]}}, "conf", "connection 'lake': \"conf\": spark.a is a list, expected a text"),
        ({"conf": [1]}, "conf", "connection 'lake': \"conf\" is a list, expected an object"),
    ],
)
def test_unusable_fields_are_named(hook: Any, extra: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(AirflowException, match=says):
        getattr(hook({"extra": extra}), field)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3a://AKIA:s3cr3t@bucket/x not found", "s3a://***@bucket/x not found"),
        ("jdbc:mysql://u:p@h/db?password=hunter2&x=1", "jdbc:mysql://***@h/db?password=***&x=1"),
        ("sc://h:15002/;token=abc.def;use_ssl=true", "sc://h:15002/;token=***;use_ssl=true"),
        ('fs.s3a.secret.key: "a b"', "fs.s3a.secret.key: ***"),
        ("https://x.blob.core.windows.net/c?sv=1&sig=abc%3D", "https://x.blob.core.windows.net/c?sv=1&sig=***"),
        ("raw.flights has no column 'tokens'", "raw.flights has no column 'tokens'"),
        ("fs.s3a.secret.key.of-MyBucket_1 = x;y", "fs.s3a.secret.key.of-MyBucket_1 = ***;y"),
        (f"token.{'of_a_long_name.' * 50}=abc", f"token.{'of_a_long_name.' * 50}=***"),
        ("key=a&sessiontoken='a b', sig : c", "key=a&sessiontoken=***, sig : ***"),
    ],
)
def test_credentials_are_hidden(text: str, shown: str) -> None:
    assert without_credentials(text) == shown


@pytest.mark.timeout(60)
@pytest.mark.parametrize("word", ["token", "access.", "x", "sig ", "secret=' "])
def test_long_texts_take_time_by_their_length(word: str) -> None:
    """A million letters take hours if the search reads on to the end of the word from each position."""
    text = word * (1_000_000 // len(word))
    assert without_credentials(f"{text} token=abc").endswith(" token=***")


def test_a_connection_that_is_not_there_is_named(hook: Any, airflow_home: Path) -> None:
    with pytest.raises(AirflowFailException, match="connection 'gone' does not exist: add one of type 'Joinery"):
        JoineryHook("gone").connection.host  # noqa: B018
    with pytest.raises(AirflowFailException, match=r"connection 'gone' does not exist: .*correct 'spark_conn_id'"):
        _ = hook({"extra": {"spark_conn_id": "gone"}}).target


def test_a_connection_of_another_type_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps({"conn_type": "spark", "host": "yarn"}))
    with pytest.raises(AirflowFailException, match="connection 'lake' is of type 'spark', expected 'joinery'"):
        JoineryHook("lake").connection.host  # noqa: B018


def test_a_connect_server_is_no_master(hook: Any) -> None:
    lake = hook({"host": "sc://spark.example.org", "extra": {"conf": {"spark.sql.ansi.enabled": True}}})
    assert lake.spark_confs() == {"spark.remote": "sc://spark.example.org", "spark.sql.ansi.enabled": "true"}
    assert lake.target == SparkTarget(master="sc://spark.example.org", confs={"spark.sql.ansi.enabled": "true"})


def test_a_remote_among_the_settings_wins_over_the_master(hook: Any) -> None:
    lake = hook({"host": "local[2]", "extra": {"conf": {"spark.remote": "sc://spark.example.org"}}})
    assert lake.target == SparkTarget(master="sc://spark.example.org")


@pytest.mark.parametrize(
    ("spark", "target"),
    [
        (
            {"conn_type": "spark", "host": "spark://driver", "port": 7077},
            SparkTarget(master="spark://driver:7077"),
        ),
        (
            {
                "conn_type": "spark",
                "host": "yarn",
                "extra": {"queue": "nightly", "deploy-mode": "cluster", "spark-binary": "spark3-submit"},
            },
            SparkTarget(
                master="yarn", deploy_mode="cluster", spark_submit="spark3-submit", options=("--queue", "nightly")
            ),
        ),
        (
            {"conn_type": "spark", "host": "k8s://https://10.0.0.1", "port": 6443, "extra": {"namespace": "etl"}},
            SparkTarget(master="k8s://https://10.0.0.1:6443", options=("--conf", "spark.kubernetes.namespace=etl")),
        ),
        (
            {
                "conn_type": "spark_connect",
                "host": "sc://spark.example.org",
                "port": 15002,
                "login": "me",
                "password": "t0k",
                "extra": {"use_ssl": True},
            },
            SparkTarget(master="sc://spark.example.org:15002/;user_id=me;token=t0k;use_ssl=true"),
        ),
        (
            {"conn_type": "spark_connect", "host": "h", "password": "a+b/c;d%41==", "extra": {"use_ssl": "false"}},
            SparkTarget(master="sc://h/;token=a%2Bb%2Fc%3Bd%2541%3D%3D"),
        ),
    ],
    ids=["standalone", "yarn", "kubernetes", "connect", "connect, odd token"],
)
def test_a_connection_of_the_spark_provider_is_reused(
    hook: Any, monkeypatch: pytest.MonkeyPatch, spark: dict[str, Any], target: SparkTarget
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_CLUSTER", json.dumps(spark))
    assert hook({"extra": {"spark_conn_id": "cluster"}}).target == target


def test_pyspark_reads_the_token_of_a_connection_as_it_was_written(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("grpc")
    from pyspark.sql.connect.client import DefaultChannelBuilder

    token = "a+b/c;d=%41=="
    cluster = {"conn_type": "spark_connect", "host": "h", "login": "me@x;y", "password": token}
    monkeypatch.setenv("AIRFLOW_CONN_CLUSTER", json.dumps(cluster))
    address = DefaultChannelBuilder(hook({"extra": {"spark_conn_id": "cluster"}}).target.master)
    assert (address.token, address.userId) == (token, "me@x;y")


@pytest.mark.parametrize(
    ("flag", "shows"),
    [("report_values=true", True), ("report_values=True", True), ("report_values=false", False), ("x=1", False)],
)
def test_flags_of_a_connection_that_is_a_uri(monkeypatch: pytest.MonkeyPatch, flag: str, shows: bool) -> None:
    """All values in the extra of a URI are strings."""
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", f"joinery://local/?report_dir=%2Freports&{flag}")
    pages = JoineryHook("lake").pages
    assert pages is not None
    assert pages.shows_values is shows


@pytest.mark.parametrize(
    ("flag", "address"),
    [(flag, "sc://h/;use_ssl=true") for flag in (True, 1, "1", "yes", "True")]
    + [(flag, "sc://h") for flag in (False, 0, "0", "no", "", None)],
)
def test_words_that_people_have_for_a_flag(
    hook: Any, monkeypatch: pytest.MonkeyPatch, flag: object, address: str
) -> None:
    """TLS must be on, too, if a connection asks for it with another word than "true"."""
    cluster = {"conn_type": "spark_connect", "host": "h", "extra": {"use_ssl": flag}}
    monkeypatch.setenv("AIRFLOW_CONN_CLUSTER", json.dumps(cluster))
    assert hook({"extra": {"spark_conn_id": "cluster"}}).target.master == address


@pytest.mark.parametrize(
    ("spark", "says"),
    [
        ({"conn_type": "http", "host": "h"}, "connection 'cluster' is of type 'http', expected 'spark'"),
        ({"conn_type": "spark"}, "connection 'cluster': the host is empty, expected a Spark master"),
    ],
)
def test_a_spark_connection_that_cannot_be_used_is_named(
    hook: Any, monkeypatch: pytest.MonkeyPatch, spark: dict[str, Any], says: str
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_CLUSTER", json.dumps(spark))
    with pytest.raises(AirflowFailException, match=says):
        _ = hook({"extra": {"spark_conn_id": "cluster"}}).target


def test_a_driver_in_the_cluster_needs_a_shared_directory(hook: Any) -> None:
    lake = hook({"host": "yarn", "extra": {"store": "/s", "deploy_mode": "cluster"}})
    with pytest.raises(AirflowFailException, match="connection 'lake': \"run_dir\" is empty"):
        lake.start([], full_refresh=False)
