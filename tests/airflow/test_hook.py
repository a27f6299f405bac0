"""What the hook makes of a connection. (Spark itself: test_run.py.)"""

from __future__ import annotations

import json
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowException
from airflow.sdk.log import redact
from spark_joinery.airflow.hooks.joinery import JoineryHook

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
        ({"conf": [1]}, "conf", "connection 'lake': \"conf\" is a list, expected an object"),
    ],
)
def test_unusable_fields_are_named(hook: Any, extra: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(AirflowException, match=says):
        getattr(hook({"extra": extra}), field)
