"""The sensor, on stores written without Spark."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, TaskDeferred
from airflow.triggers.base import TriggerEvent
from spark_joinery.airflow.freshness import ArtifactKey, problems_of
from spark_joinery.airflow.sensors.freshness import ArtifactFreshnessSensor
from spark_joinery.airflow.triggers.freshness import FreshnessTrigger
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec
from spark_joinery.store import ArrowFileSystem, ArtifactStore

pytestmark = pytest.mark.airflow

DISTRIBUTION = ArtifactRequest.of_table("raw.t", DistributionSpec(partition_by=["k"], order_by="ts"))
FILTER = ArtifactRequest.of_table("raw.t", BloomFilterSpec(keys=["k"]))


@pytest.fixture
def sensor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function: arguments -> a sensor of both artifacts, whose store is `store`."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AIRFLOW_CONN_JOINERY_DEFAULT", json.dumps({"conn_type": "joinery"}))
    joinery = {
        "distributions": [{"partition_by": ["k"], "order_by": "ts"}],
        "bloom_filters": [{"keys": ["k"]}],
    }
    node = {"resource_type": "source", "relation_name": "raw.t", "config": {"meta": {"joinery": joinery}}}
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {},
        "sources": {"source.shop.raw.t": node},
    }
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps(document))

    def make(**arguments: Any) -> ArtifactFreshnessSensor:
        return ArtifactFreshnessSensor(
            task_id="t", manifest=manifest, **{"store": str(tmp_path / "store"), **arguments}
        )

    return make


def publish(folder: Path, request: ArtifactRequest) -> Path:
    """Write an artifact; returns its one data file."""
    store = ArtifactStore(str(folder / "store"), ArrowFileSystem())
    pending = store.begin(request.kind, request.relation, request.spec_hash)
    data = Path(pending.data_path.removeprefix("file:"))
    data.mkdir(parents=True)
    pq.write_table(pa.table({"k": [1]}), data / "part-0.parquet")
    store.publish(pending, {"type": "none", "reason": "it is a view", "files": []}, {"spec": {}})
    return data / "part-0.parquet"


def test_an_artifact_is_waited_for_until_it_is_there(
    sensor: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = sensor(kinds=["distribution"])
    assert waiting.poke({}) is False
    assert "distribution of spark_catalog.raw.t: nothing has been published yet" in capsys.readouterr().out
    publish(tmp_path, DISTRIBUTION)
    assert waiting.poke({}) is True


def test_an_artifact_of_another_catalog_is_found(sensor: Any, tmp_path: Path) -> None:
    """The manifest names no catalog, and the refresh ran with another current catalog than `spark_catalog`."""
    publish(tmp_path, DISTRIBUTION.in_catalog("ice"))
    assert sensor(kinds=["distribution"]).poke({}) is True
    assert sensor(kinds=["bloom_filter"]).poke({}) is False


def test_artifacts_of_several_catalogs_are_not_guessed_among(
    sensor: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(tmp_path, DISTRIBUTION.in_catalog("ice"))
    # a refresh in another catalog, still unpublished, does not count
    elsewhere = DISTRIBUTION.in_catalog("archive")
    ArtifactStore(str(tmp_path / "store"), ArrowFileSystem()).begin(
        elsewhere.kind, elsewhere.relation, elsewhere.spec_hash
    )
    assert sensor(kinds=["distribution"]).poke({}) is True
    publish(tmp_path, elsewhere)
    capsys.readouterr()
    assert sensor(kinds=["distribution"]).poke({}) is False
    shown = capsys.readouterr().out
    assert "the store has it of several catalogs, archive.raw.t and ice.raw.t, and the manifest names none" in shown


def test_a_store_is_listed_once_however_many_artifacts_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(tmp_path, FILTER)
    publish(tmp_path, DISTRIBUTION)
    listed = []
    list_folder = ArrowFileSystem.list
    monkeypatch.setattr(
        ArrowFileSystem, "list", lambda self, folder: (listed.append(folder), list_folder(self, folder))[1]
    )
    keys = [
        ArtifactKey.of(DISTRIBUTION),
        *(ArtifactKey("bloom_filter", f"spark_catalog.raw.{n}", "0" * 16) for n in "abc"),
    ]
    store = str(tmp_path / "store")
    assert problems_of(store, keys[:1], None) == {}
    assert f"file:{store}/distribution" not in listed
    assert set(problems_of(store, keys, None).values()) == {"nothing has been published yet"}
    assert listed.count(f"file:{store}/bloom_filter") == 1


def test_an_artifact_that_is_too_old_is_waited_for(
    sensor: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(tmp_path, DISTRIBUTION)
    assert sensor(kinds=["distribution"], max_age=timedelta(hours=1)).poke({}) is True
    assert sensor(kinds=["distribution"], max_age=timedelta(microseconds=1)).poke({}) is False
    assert "it was built 0 s ago, expected at most 0 s" in capsys.readouterr().out


def test_one_that_is_damaged_or_never_used_is_not_fresh(
    sensor: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(tmp_path, FILTER)
    data = publish(tmp_path, DISTRIBUTION)
    assert sensor().poke({}) is False
    shown = capsys.readouterr().out
    assert "bloom_filter of spark_catalog.raw.t: no query uses it: it is a view" in shown
    assert "distribution of" not in shown
    data.write_bytes(b"cut")
    assert sensor(kinds=["distribution"]).poke({}) is False
    assert "distribution of spark_catalog.raw.t: " in capsys.readouterr().out


def drive(trigger: FreshnessTrigger) -> dict[str, Any]:
    """Create a trigger from its serialized form, as a triggerer does, and return its event."""
    path, arguments = trigger.serialize()
    assert path == f"{FreshnessTrigger.__module__}.{FreshnessTrigger.__qualname__}"
    assert json.loads(json.dumps(arguments)) == arguments

    async def first() -> TriggerEvent:
        return await anext(aiter(FreshnessTrigger(**arguments).run()))

    payload: dict[str, Any] = asyncio.run(first()).payload
    return payload


def test_it_waits_in_the_triggerer(sensor: Any, tmp_path: Path) -> None:
    waiting = sensor(kinds=["distribution"], deferrable=True, poke_interval=0.05, max_age=timedelta(hours=1))
    with pytest.raises(TaskDeferred) as stopped:
        waiting.execute({})
    trigger = stopped.value.trigger
    assert isinstance(trigger, FreshnessTrigger)
    threading.Timer(0.3, publish, (tmp_path, DISTRIBUTION)).start()
    started = time.monotonic()
    event = drive(trigger)
    assert event == {"error": None}
    assert time.monotonic() - started > 0.2
    getattr(waiting, stopped.value.method_name)({}, event)
    # fresh artifacts need no triggerer
    assert waiting.execute({}) is None


def test_a_store_that_cannot_be_read_is_an_error(sensor: Any) -> None:
    with pytest.raises(AirflowException, match=r"the store nosuchfs://\*\*\*@b/s cannot be read"):
        sensor(store="nosuchfs://u:p@b/s").poke({})
    event = drive(FreshnessTrigger("nosuchfs://b/s", [["distribution", "r", "h"]]))
    with pytest.raises(AirflowException, match="the store nosuchfs://b/s cannot be read"):
        sensor().execute_complete({}, event)


def test_an_unknown_name_fails_at_once(sensor: Any) -> None:
    with pytest.raises(AirflowFailException, match=r"ArtifactFreshnessSensor 't': Nothing to refresh is named 'gone'"):
        sensor(select=["gone"]).poke({})


def test_names_that_are_no_list_are_refused(sensor: Any) -> None:
    with pytest.raises(AirflowFailException, match=r"^ArtifactFreshnessSensor 't': select: expected a list of names"):
        sensor(select="raw.t").poke({})


def test_names_may_be_a_set(sensor: Any) -> None:
    assert sensor(select={"raw.t"}).keys() == sensor(select=["raw.t"]).keys() != []


@pytest.mark.parametrize("age", [26, timedelta(), timedelta(hours=-1)])
def test_an_age_that_is_none_is_an_import_error(sensor: Any, age: Any) -> None:
    with pytest.raises(AirflowFailException, match=r"'t': max_age: expected a timedelta above 0, found "):
        sensor(max_age=age)
