"""Refreshes as processes of their own: started, watched, deferred, cancelled; real Spark, on files."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from airflow.providers.common.compat.sdk import (
    AirflowException,
    AirflowFailException,
    AirflowTaskTimeout,
    TaskDeferred,
)
from airflow.sdk.execution_time.context import OutletEventAccessors
from airflow.triggers.base import TriggerEvent
from spark_joinery.airflow.application import SparkApplication
from spark_joinery.airflow.assets import artifact_asset
from spark_joinery.airflow.hooks.joinery import JoineryHook
from spark_joinery.airflow.links import SparkUILink
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator
from spark_joinery.airflow.operators.joinery import JoineryRefreshOperator
from spark_joinery.airflow.target import SparkTarget
from spark_joinery.airflow.triggers.refresh import RefreshTrigger
from spark_joinery.batch import Batch, BatchFolder, Progress
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec

pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, small_spark: dict[str, str]) -> Iterator[Path]:
    """A folder with a source of 1,000 keys; a connection `lake` leads to a Spark and to a store in the same folder."""
    folder = tmp_path_factory.mktemp("lake")
    (folder / "source").mkdir()
    pq.write_table(pa.table({"k": list(range(1000))}), folder / "source" / "part.parquet")
    conf = small_spark | {
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.enabled": "true",
        "spark.ui.port": "0",
    }
    extra = {"store": str(folder / "store"), "run_dir": str(folder / "runs"), "conf": conf}
    with pytest.MonkeyPatch.context() as patch:
        connection = {"conn_type": "joinery", "host": "local[1]", "extra": extra}
        patch.setenv("AIRFLOW_CONN_LAKE", json.dumps(connection))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        yield folder


def processes() -> list[tuple[int, str]]:
    """Ids and command lines of all processes."""
    shown = subprocess.run(["ps", "-ww", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [(int(pid), line) for pid, line in (row.split(maxsplit=1) for row in shown.splitlines())]


def java_of(folder: Path) -> list[str]:
    """Command lines of the processes that run for a folder."""
    return [line for _, line in processes() if str(folder) in line]


def manifest(lake: Path, name: str, joinery: dict[str, Any]) -> Path:
    nodes = {
        f"source.shop.raw.{table}": {
            "resource_type": "source",
            "relation_name": f"parquet.`{lake}/{table}`",
            "config": {"meta": {"joinery": joinery}},
        }
        for table in ("source", "gone")
    }
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {},
        "sources": nodes,
    }
    path = lake / name
    path.write_text(json.dumps(document))
    return path


def test_several_artifacts_in_one_application(
    lake: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A wrong declaration fails the task once the other artifacts are done, and the task is not retried."""
    declared = {"bloom_filters": [{"keys": ["nope"]}, {"keys": ["k"]}], "range_indexes": [{"point": "k"}]}
    operator = JoineryRefreshOperator(
        task_id="t", manifest=manifest(lake, "three.json", declared), joinery_conn_id="lake"
    )
    shown_ui: list[str] = []
    ti: Any = SimpleNamespace(xcom_push=lambda key, value: shown_ui.append(value))
    with pytest.raises(AirflowFailException) as failed:
        operator.execute({"ti": ti})
    # the link to Spark's UI is there as long as Spark runs
    assert [link[:7] for link in shown_ui] == ["http://", ""]
    assert SparkUILink().get_link(operator, ti_key=None) == ""  # type: ignore[arg-type]
    # Airflow 3.0 uses `logging`, which pytest captures; later versions print some lines; earlier tests may cause both
    texts = (capsys.readouterr().out, caplog.text)
    shown, log = str(failed.value), "".join(texts)
    assert shown.startswith("1 of 6 artifacts could not be refreshed:\n  - bloom_filter of file:")
    assert "has no column 'nope'" in shown
    assert f"bloom_filter of file:{lake}/source: refreshed (full), 1,000 rows, " in log
    assert f"range_index of file:{lake}/source: refreshed (full), 1,000 rows, " in log
    assert max(text.count(f"parquet.`{lake}/gone` does not exist yet") for text in texts) == 3
    assert max(text.count("Starting /") for text in texts) == 1
    assert "The end of Spark's log:" in log
    assert java_of(lake) == []
    assert list((lake / "runs").iterdir()) == []


def drive(trigger: RefreshTrigger) -> dict[str, Any]:
    """Create a trigger from its serialized form, as a triggerer does, and return its event."""
    path, arguments = trigger.serialize()
    assert path == f"{RefreshTrigger.__module__}.{RefreshTrigger.__qualname__}"
    assert json.loads(json.dumps(arguments)) == arguments

    async def first() -> TriggerEvent:
        return await anext(aiter(RefreshTrigger(**arguments).run()))

    payload: dict[str, Any] = asyncio.run(first()).payload
    return payload


def deferred(operator: Any) -> TaskDeferred:
    """Run the operator; returns the `TaskDeferred` that it raises."""
    with pytest.raises(TaskDeferred) as stopped:
        operator.execute({})
    return stopped.value


def test_a_deferred_refresh_goes_on_where_the_trigger_ends(lake: Path) -> None:
    relation = f"parquet.`{lake}/source`"
    operator = BloomFilterOperator(
        task_id="t", relation=relation, keys=["k"], fpp=0.02, joinery_conn_id="lake", deferrable=True
    )
    stopped = deferred(operator)
    assert SparkUILink().get_link(operator, ti_key=None).startswith("http://")  # type: ignore[arg-type]
    assert isinstance(stopped.trigger, RefreshTrigger)
    folder = Path(stopped.trigger.folder)
    assert folder.parent == lake / "runs"
    assert not (folder / "batch.json").exists()
    assert not (folder / "spark.properties").exists()
    event = drive(stopped.trigger)
    assert event == {"folder": str(folder), "problem": None}
    # resumed by another process, which knows only the arguments of the task
    asset = artifact_asset(operator.request())
    resumed = BloomFilterOperator(
        task_id="t", relation=relation, keys=["k"], fpp=0.02, joinery_conn_id="lake", outlets=[asset]
    )
    events = OutletEventAccessors()
    result = getattr(resumed, stopped.method_name)({"outlet_events": events}, event)
    assert (result["status"], result["rows"]) == ("refreshed", 1000)
    said = {name: result[name] for name in ("status", "mode", "rows", "version")}
    assert events[asset].extra == said
    assert not folder.exists()


def test_who_kills_a_deferred_task_ends_its_spark(lake: Path) -> None:
    operator = JoineryRefreshOperator(
        task_id="t",
        manifest=manifest(
            lake, "many.json", {"bloom_filters": [{"keys": ["k"], "fpp": n / 500} for n in range(1, 400)]}
        ),
        joinery_conn_id="lake",
        deferrable=True,
    )
    stopped = deferred(operator)
    assert isinstance(stopped.trigger, RefreshTrigger)
    folder = BatchFolder(Path(stopped.trigger.folder))
    while folder.progress().state == "starting":
        time.sleep(0.2)
    assert java_of(lake), folder.progress()
    killed = time.monotonic()
    asyncio.run(stopped.trigger.on_kill())
    while java_of(lake):
        assert time.monotonic() - killed < 10
        time.sleep(0.2)
    event = drive(stopped.trigger)
    with pytest.raises(AirflowException, match="The refresh was ended: it was cancelled"):
        operator.execute_complete({}, event)


def test_a_deferred_refresh_that_takes_too_long_is_ended(lake: Path) -> None:
    """The trigger ends the refresh, because Airflow's own time-out stops neither trigger nor operator."""
    filters = [{"keys": ["k"], "fpp": n / 500} for n in range(1, 400)]
    operator = JoineryRefreshOperator(
        task_id="t",
        manifest=manifest(lake, "long.json", {"bloom_filters": filters}),
        joinery_conn_id="lake",
        deferrable=True,
        execution_timeout=timedelta(seconds=1),
    )
    stopped = deferred(operator)
    assert stopped.timeout == timedelta(seconds=61)
    assert isinstance(stopped.trigger, RefreshTrigger)
    folder = BatchFolder(Path(stopped.trigger.folder))
    event = drive(stopped.trigger)
    assert folder.progress().state == "cancelled"
    with pytest.raises(
        AirflowException, match=r"longer than 'execution_timeout' .* was ended\. The end of its log:\n."
    ):
        operator.execute_complete({}, event)
    assert not folder.path.exists()
    ended = time.monotonic()
    while java_of(lake):
        assert time.monotonic() - ended < 10
        time.sleep(0.2)


@pytest.fixture
def slow_submit(lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `spark-submit` that prints a line and never starts Spark."""
    program = tmp_path / "spark-submit"
    program.write_text("#!/bin/sh\necho waiting in the queue\nsleep 600\n")
    program.chmod(0o700)
    connection = json.loads(os.environ["AIRFLOW_CONN_LAKE"])
    pages = {"report_dir": str(tmp_path / "pages"), "report_values": True, "run_dir": str(tmp_path / "runs")}
    connection["extra"] |= {"spark_submit": str(program), **pages}
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps(connection))
    return tmp_path


@pytest.mark.parametrize("deferrable", [False, True])
def test_a_task_that_times_out_leaves_its_log_and_no_secrets(
    slow_submit: Path, deferrable: bool, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def stop(*_: object) -> None:  # as Airflow does it
        raise AirflowTaskTimeout

    operator = BloomFilterOperator(
        task_id="t", relation="raw.t", keys=["k"], joinery_conn_id="lake", deferrable=deferrable
    )
    ti: Any = SimpleNamespace(
        dag_id="d", run_id="r", task_id="t", map_index=-1, try_number=1, xcom_push=lambda key, value: None
    )
    former = signal.signal(signal.SIGALRM, stop)
    signal.alarm(2)
    try:
        with pytest.raises(AirflowTaskTimeout):
            operator.execute({"ti": ti})
    finally:
        signal.signal(signal.SIGALRM, former)
    assert "The end of Spark's log:\nwaiting in the queue" in capsys.readouterr().out + caplog.text
    assert (slow_submit / "pages/d/r/t/try-1/driver.log.txt").read_text() == "waiting in the queue\n"
    assert list((slow_submit / "runs").iterdir()) == []
    assert java_of(slow_submit) == []


def test_what_cannot_be_started_leaves_no_secrets(tmp_path: Path) -> None:
    (tmp_path / "spark-submit").write_text("no program")
    (tmp_path / "spark-submit").chmod(0o700)
    for program, error in (("/nowhere/spark-submit", AirflowFailException), (tmp_path / "spark-submit", OSError)):
        target = SparkTarget(spark_submit=str(program), confs={"spark.hadoop.fs.s3a.secret.key": "hunter2"})
        with pytest.raises(error):
            SparkApplication.start(target, Batch([]), str(tmp_path / "runs"))
        assert list((tmp_path / "runs").iterdir()) == []


def test_a_task_that_is_killed_ends_its_spark(lake: Path) -> None:
    hook = JoineryHook("lake")
    requests = [ArtifactRequest.of_table(f"parquet.`{lake}/source`", BloomFilterSpec(keys=["k"], fpp=0.5))]
    application = hook.start(requests, full_refresh=False)
    application.wait_until_alive()
    killed = time.monotonic()
    application.cancel()
    assert java_of(lake) == []
    assert time.monotonic() - killed < 10
    with pytest.raises(AirflowException, match="The refresh was ended: it was cancelled"):
        application.wait()


def test_a_jvm_that_is_killed_fails_the_task_and_leaves_nothing(lake: Path) -> None:
    # the JVM needs work, or it may be done before it is killed
    requests = [ArtifactRequest.of_table(f"parquet.`{lake}/source`", BloomFilterSpec(keys=["k"], fpp=0.4))]
    application = JoineryHook("lake").start(requests, full_refresh=False)
    application.wait_until_alive()
    (java,) = [pid for pid, line in processes() if "SparkSubmit" in line and str(application.folder.path) in line]
    os.kill(java, signal.SIGKILL)
    # the program notices that its JVM is gone, and reports the failure before the hook asks
    killed = time.monotonic()
    while java_of(lake):
        assert time.monotonic() - killed < 10
        time.sleep(0.2)
    with pytest.raises(AirflowException, match=r"Spark has ended before its work was done \(exit code -9\)"):
        application.wait()


def test_what_nobody_waits_for_ends_itself(lake: Path, tmp_path: Path) -> None:
    """A killed worker cannot cancel its application, so the application ends by itself."""
    application = SparkApplication.start(SparkTarget(master="local[1]"), Batch([], orphan_after_s=0.5), str(tmp_path))
    deadline = time.monotonic() + 60
    while application.folder.progress().state != "cancelled":
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert application.folder.progress().error == "no task has waited for it for 0 s"
    application.cancel()
    assert java_of(tmp_path) == []


def test_a_program_that_ends_without_a_word_shows_its_log(tmp_path: Path) -> None:
    target = SparkTarget(
        master="local[1]", options=("--class", "no.such.Class", "--jars", "s3a://me:pass@bucket/x.jar")
    )
    application = SparkApplication.start(target, Batch([]), str(tmp_path))
    with pytest.raises(AirflowException) as lost:
        application.wait()
    assert "Spark has ended before its work was done (exit code 1). The end of its log:" in str(lost.value)
    assert "pass" not in str(lost.value).replace("passing", "").replace("bypass", "")


def test_a_triggerer_elsewhere_is_told_what_it_has_to_share(tmp_path: Path) -> None:
    event = drive(RefreshTrigger(str(tmp_path / "gone")))
    assert "gone cannot be read by the triggerer (No such file or directory): 'run_dir'" in event["problem"]
    with pytest.raises(
        AirflowException, match="'run_dir' of the Joinery connection has to be a directory that workers"
    ):
        BloomFilterOperator(task_id="t", relation="raw.t", keys=["k"]).execute_complete({}, event)


def test_so_is_the_worker_that_goes_on(tmp_path: Path) -> None:
    event = {"folder": str(tmp_path / "gone"), "problem": None}
    says = (
        r"gone cannot be read by this worker \(No such file or directory\): 'run_dir' of the Joinery connection has to"
    )
    with pytest.raises(AirflowException, match=says):
        BloomFilterOperator(task_id="t", relation="raw.t", keys=["k"]).execute_complete({}, event)


def test_a_driver_that_shows_no_life_is_lost(tmp_path: Path) -> None:
    folder = BatchFolder.create(tmp_path / "run", Batch([]))
    folder.write_progress(Progress(state="running"))
    folder.send_heartbeat()
    event = drive(RefreshTrigger(str(folder.path), poll_interval=0.05, lost_after=0.3))
    assert event["problem"] == "Spark's driver has given no sign of life for 0 s"
    with pytest.raises(AirflowException, match="no sign of life"):
        BloomFilterOperator(task_id="t", relation="raw.t", keys=["k"]).execute_complete({}, event)
    assert folder.is_gone


def test_without_a_shared_directory_a_task_waits_itself(
    lake: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connection = json.loads(os.environ["AIRFLOW_CONN_LAKE"])
    del connection["extra"]["run_dir"]
    connection["extra"]["spark_submit"] = "/nowhere/spark-submit"
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps(connection))
    operator = BloomFilterOperator(
        task_id="t", relation=f"parquet.`{lake}/gone`", keys=["k"], joinery_conn_id="lake", deferrable=True
    )
    with pytest.raises(AirflowFailException, match="spark-submit is not at /nowhere"):
        operator.execute({})
    assert "to defer, set 'run_dir' in the extra of connection 'lake'" in capsys.readouterr().out


def test_the_connection_form_shows_no_credentials(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = json.loads(os.environ["AIRFLOW_CONN_LAKE"])
    connection["extra"]["store"] = "nosuchfs://me:hunter2@bucket/joinery"
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps(connection))
    works, text = JoineryHook("lake").test_connection()
    assert not works
    assert "hunter2" not in text
    assert 'No FileSystem for scheme "nosuchfs"' in text
    assert java_of(lake) == []


def test_a_run_dir_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AirflowException, match=r"the directory for runs, .*/file, cannot be written"):
        SparkApplication.start(SparkTarget(), Batch([]), str(tmp_path / "file"))
