"""What the operators make of their arguments. (Spark itself: test_run.py.)"""

from __future__ import annotations

import json
import uuid
from collections import UserList
from dataclasses import asdict
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import (
    DAG,
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
    BaseOperator,
)
from spark_joinery.airflow.dags import joinery_refresh_dag
from spark_joinery.airflow.operators.application import ApplicationOperator, summary
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator
from spark_joinery.airflow.operators.distribution import SkewDistributionOperator
from spark_joinery.airflow.operators.joinery import JoineryRefreshOperator
from spark_joinery.airflow.operators.range_index import RangeIndexOperator
from spark_joinery.airflow.operators.refresh import RefreshOperator
from spark_joinery.airflow.sensors.freshness import ArtifactFreshnessSensor
from spark_joinery.airflow.tasks import TaskPer
from spark_joinery.batch import Batch, BatchFolder, Progress
from spark_joinery.jobs import RefreshResult
from spark_joinery.metadata import BloomFilterSpec, DistributionSpec, HotKeys, RangeIndexSpec

pytestmark = pytest.mark.airflow

GOOD: dict[type[RefreshOperator], dict[str, Any]] = {
    SkewDistributionOperator: {"partition_by": ["carrier"], "order_by": "departs_at"},
    BloomFilterOperator: {"keys": ["tailnum"]},
    RangeIndexOperator: {"start": "starts_at", "end": "ends_at"},
}


@pytest.mark.parametrize(
    ("operator", "arguments", "spec"),
    [
        (
            SkewDistributionOperator,
            {"partition_by": ("a", "b"), "order_by": "t", "quantiles": 4, "hot_min_share": 0.1},
            DistributionSpec(partition_by=["a", "b"], order_by="t", quantiles=4, hot=HotKeys(min_share=0.1)),
        ),
        (
            BloomFilterOperator,
            {"keys": ("a",), "where": "b = 1", "fpp": 0.001},
            BloomFilterSpec(keys=["a"], where="b = 1", fpp=0.001),
        ),
        (BloomFilterOperator, {"keys": ["a"]}, BloomFilterSpec(keys=["a"])),
        (
            RangeIndexOperator,
            {"start": "s", "end": "e", "columns": ["c"]},
            RangeIndexSpec(start="s", end="e", columns=["c"]),
        ),
        (RangeIndexOperator, {"point": "p"}, RangeIndexSpec(point="p")),
    ],
)
def test_arguments_make_the_specification(
    operator: type[RefreshOperator], arguments: dict[str, Any], spec: object
) -> None:
    request = operator(task_id="t", relation="raw.`Flights 2013`", **arguments).request()
    assert request.spec == spec
    assert request.relation == "spark_catalog.raw.`flights 2013`"


@pytest.mark.parametrize(
    ("operator", "arguments", "says"),
    [
        (SkewDistributionOperator, {"partition_by": "carrier"}, "partition_by: expected a list, found str 'carrier'"),
        (SkewDistributionOperator, {"partition_by": []}, "partition_by: expected at least one entry"),
        (SkewDistributionOperator, {"order_by": None}, "order_by: expected a text, found NoneType None"),
        (SkewDistributionOperator, {"quantiles": 1}, "quantiles: expected a number greater than or equal to 2"),
        (SkewDistributionOperator, {"hot_min_rows": 0}, "hot_min_rows: expected a number greater than or equal to 1"),
        (SkewDistributionOperator, {"hot_min_share": 2}, "hot_min_share: expected a number less than or equal to 1"),
        (BloomFilterOperator, {"keys": ["a", "A"]}, "keys: column 'A' is listed twice"),
        (BloomFilterOperator, {"keys": [1]}, "keys: expected a text, found int 1"),
        (BloomFilterOperator, {"where": ""}, "where: expected a name that is not empty"),
        (BloomFilterOperator, {"fpp": 1}, "fpp: expected a number less than 1"),
        (BloomFilterOperator, {"fpp": float("nan")}, "fpp: expected"),
        (RangeIndexOperator, {"end": None}, "give either start and end, or point"),
        (RangeIndexOperator, {"point": "p"}, "give either start and end, or point"),
        (RangeIndexOperator, {"columns": "storm_id"}, "columns: expected a list, found str 'storm_id'"),
        (RangeIndexOperator, {"columns": ["{{ params.c }}", ""]}, "columns: expected a name that is not empty"),
        *((operator, {"relation": "a b"}, "relation: 'a b' is not a table name") for operator in GOOD),
        *((operator, {"relation": None}, "relation: expected the name of a table, found None") for operator in GOOD),
    ],
)
def test_bad_arguments_are_named_while_the_dag_is_parsed(
    operator: type[RefreshOperator], arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(AirflowException) as refused:
        operator(task_id="nightly", **{"relation": "raw.flights", **GOOD[operator], **arguments})
    assert str(refused.value).startswith(f"{operator.__name__} 'nightly': {says}")


def test_what_only_the_run_knows_is_checked_by_the_run() -> None:
    with DAG("d", params={"table": "raw.flights", "columns": ["a"]}, render_template_as_native_obj=True) as dag:
        upstream = BaseOperator(task_id="upstream")
        BloomFilterOperator(task_id="late", relation=upstream.output, keys=upstream.output, where="{{ params.gone }}")
        late = BloomFilterOperator(
            task_id="t", relation="{{ params.table }}", keys="{{ params.columns }}", where="x = '{{ ds }}'"
        )
    assert dag.get_task("late").upstream_task_ids == {"upstream"}
    with pytest.raises(AirflowException, match="keys: expected a list, found str"):
        late.request()
    late.render_template_fields({"params": dag.params.dump(), "ds": "2013-01-01"})
    request = late.request()
    assert request.relation == "spark_catalog.raw.flights"
    assert request.spec == BloomFilterSpec(keys=["a"], where="x = '2013-01-01'")


@pytest.mark.parametrize("operator", GOOD)
def test_every_name_and_text_is_templated(operator: type[RefreshOperator]) -> None:
    classes = (operator, RefreshOperator, ApplicationOperator)
    parameters = {name for each in classes for name in signature(each).parameters}
    others = {"quantiles", "hot_min_rows", "hot_min_share", "fpp", "full_refresh", "joinery_conn_id", "kwargs"}
    others |= {"deferrable", "fail_on"}
    assert set(operator.template_fields) == parameters - others


def test_a_predicate_is_shown_as_sql() -> None:
    task = BloomFilterOperator(task_id="t", relation="raw.t", keys=["k"], where="k > 0")
    assert task.template_fields_renderers == {"where": "sql"}
    assert set(task.template_fields_renderers) <= set(task.template_fields)


def test_default_args_reach_the_arguments_that_all_kinds_share() -> None:
    with DAG("d", default_args={"joinery_conn_id": "lake", "store": "/s", "full_refresh": True}):
        for operator, arguments in GOOD.items():
            task = operator(task_id=operator.__name__, relation="raw.flights", **arguments)
            assert (task.joinery_conn_id, task.store, task.full_refresh) == ("lake", "/s", True)


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A manifest with a source and a model."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "home"))
    meta = {"meta": {"joinery": {"bloom_filters": [{"keys": ["k"]}], "range_indexes": [{"point": "t"}]}}}
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {
            "model.shop.busy": {
                "resource_type": "model",
                "relation_name": "marts.busy",
                "config": {"materialized": "table", **meta},
            }
        },
        "sources": {"source.shop.raw.t": {"resource_type": "source", "relation_name": "raw.t", "config": meta}},
    }
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, ["marts.busy bloom_filter", "marts.busy range_index", "raw.t bloom_filter", "raw.t range_index"]),
        ({"stage": "before_models"}, ["raw.t bloom_filter", "raw.t range_index"]),
        ({"stage": "after_models", "kinds": ["range_index"]}, ["marts.busy range_index"]),
        ({"select": ["source.shop.raw.t"], "kinds": ("bloom_filter",)}, ["raw.t bloom_filter"]),
        ({"select": ("busy, t",), "kinds": ["range_index"]}, ["marts.busy range_index", "raw.t range_index"]),
        ({"select": ["raw.t"], "stage": "after_models"}, []),
    ],
)
def test_a_selection_of_the_manifest(manifest: Path, arguments: dict[str, Any], expected: list[str]) -> None:
    requests = JoineryRefreshOperator(task_id="t", manifest=manifest, **arguments).requests()
    assert [f"{request.sql_name} {request.kind}" for request in requests] == expected


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            {"select": ["gone"]},
            r"Nothing to refresh is named 'gone'\. There are: model\.shop\.busy, source\.shop\.raw\.t",
        ),
        ({"select": "raw.t"}, r"select: expected a list of names, found 'raw\.t'"),
        ({"select": [1]}, r"select: expected a list of names, found \[1\]"),
        ({"manifest": "/nowhere/manifest.json"}, r"/nowhere/manifest\.json: no such file"),
    ],
)
def test_what_the_manifest_does_not_have_fails_at_once(manifest: Path, arguments: dict[str, Any], says: str) -> None:
    operator = JoineryRefreshOperator(**{"task_id": "nightly", "manifest": manifest, **arguments})
    with pytest.raises(AirflowFailException, match=f"^JoineryRefreshOperator 'nightly': {says}"):
        operator.execute({})


@pytest.mark.parametrize("operator", [JoineryRefreshOperator, ArtifactFreshnessSensor])
@pytest.mark.parametrize("kinds", [["bloom_filters"], ["distribution", "all"], "distribution", [1]])
def test_a_kind_that_there_is_not_is_an_import_error(operator: type[Any], kinds: Any) -> None:
    """Nothing is of that kind: the operator would be skipped every night, and the sensor wait for nothing."""
    with pytest.raises(AirflowFailException) as error:
        operator(task_id="t", manifest="/m.json", kinds=kinds)
    assert str(error.value) == (
        f"{operator.__name__} 't': kinds: expected a list of 'distribution', 'bloom_filter', 'range_index', "
        f"found {kinds!r}"
    )


def test_none_is_as_good_as_the_default(manifest: Path) -> None:
    nothing: Any = None
    operator = JoineryRefreshOperator(task_id="t", manifest=manifest, kinds=nothing, fail_on=nothing)
    assert len(operator.requests()) == 4
    assert operator.fail_on == ()


@pytest.mark.parametrize("operator", [JoineryRefreshOperator, ArtifactFreshnessSensor])
def test_kinds_that_can_be_read_once_only_are_an_import_error(operator: type[Any]) -> None:
    """Nor is what another task is to return, as `kinds` is no template."""
    for kinds in (iter(["distribution"]), BloomFilterOperator(task_id="b", relation="raw.t", keys=["k"]).output, 1):
        with pytest.raises(AirflowFailException, match="'t': kinds: expected a list of 'distribution', "):
            operator(task_id="t", manifest="/m.json", kinds=kinds)


def test_a_stage_that_there_is_not_is_an_import_error() -> None:
    says = r"'t': stage: expected 'before_models' or 'after_models', found 'before'$"
    with pytest.raises(AirflowFailException, match=says):
        JoineryRefreshOperator(task_id="t", manifest="/m.json", stage="before")  # type: ignore[arg-type]


def test_names_that_a_mapped_task_returned(manifest: Path) -> None:
    """Airflow hands them over as a sequence of its own, which is no list."""
    found = JoineryRefreshOperator(task_id="t", manifest=manifest, select=UserList(["raw.t"])).requests()
    assert {request.sql_name for request in found} == {"raw.t"}
    assert JoineryRefreshOperator(task_id="t", manifest=manifest, select={"raw.t"}).requests() == found  # type: ignore
    keys = UserList(["k"])
    assert BloomFilterOperator(task_id="t", relation="raw.t", keys=keys).spec() == BloomFilterSpec(keys=["k"])


@pytest.mark.parametrize("operator", [JoineryRefreshOperator, ArtifactFreshnessSensor])
def test_a_manifest_that_cannot_be_read_may_be_by_the_next_try(operator: type[Any], tmp_path: Path) -> None:
    manifest = tmp_path / f"{'manifest' * 40}.json"
    task = operator(
        task_id="nightly", manifest=manifest, **({} if operator is JoineryRefreshOperator else {"store": "/s"})
    )
    with pytest.raises(AirflowException, match=r"'nightly': .*: cannot be read: File name too long") as error:
        task.execute({})
    assert not isinstance(error.value, AirflowFailException)


def redeclare(manifest: Path, **joinery: Any) -> None:
    """Change what the manifest declares for its source."""
    document = json.loads(manifest.read_text())
    document["sources"]["source.shop.raw.t"]["config"]["meta"] = {"joinery": joinery} if joinery else {}
    manifest.write_text(json.dumps(document))


@pytest.mark.parametrize("task_per", ["stage", "relation"])
def test_a_declaration_that_changed_after_the_dag_was_parsed(
    manifest: Path, task_per: TaskPer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task goes by the manifest as it is when it runs, and says what became of what the DAG shows."""
    dag = joinery_refresh_dag(manifest, task_per=task_per)
    (task,) = (task for task in dag.tasks if task.task_id.startswith("before_models."))
    assert isinstance(task, JoineryRefreshOperator)
    task.render_template_fields({})
    warnings: list[str] = []
    monkeypatch.setattr(task.log, "warning", lambda text, *values: warnings.append(text % values))
    before, index = task.requests()
    assert warnings == []
    redeclare(manifest, bloom_filters=[{"keys": ["k"], "fpp": 0.001}], range_indexes=[{"point": "t"}])
    assert [request.spec for request in task.requests()] == [BloomFilterSpec(keys=["k"], fpp=0.001), index.spec]
    assert warnings == [
        f"{manifest} has changed since the DAG was parsed. Not refreshed, as it no longer declares them so: "
        f"bloom_filter of spark_catalog.raw.t ({before.spec_hash[:8]})"
    ]


def test_a_relation_that_went_after_the_dag_was_parsed(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest, task_per="relation")
    (task,) = (task for task in dag.tasks if task.task_id.startswith("before_models."))
    assert isinstance(task, JoineryRefreshOperator)
    task.render_template_fields({})
    redeclare(manifest)
    says = (
        r"^JoineryRefreshOperator 'before_models\.raw_t__\w{8}': Nothing to refresh is named 'spark_catalog\.raw\.t'\. "
        rf"There are: model\.shop\.busy\. {manifest} is read when the task runs: it may have changed since the DAG"
    )
    with pytest.raises(AirflowFailException, match=says):
        task.execute({})


def test_a_manifest_that_changes_during_a_refresh_does_not_matter_to_its_end(
    manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_JOINERY_DEFAULT", json.dumps({"conn_type": "joinery", "extra": {"store": "/s"}}))
    operator = JoineryRefreshOperator(task_id="t", manifest=manifest, stage="before_models")
    asked = operator.requests()
    folder = BatchFolder.create(tmp_path / "run", Batch(asked))
    folder.take_batch()
    results = tuple(result("refreshed", mode="full", rows=1, keys=1, version="v1") for _ in asked)
    folder.write_progress(Progress(state="done", results=results))
    manifest.unlink()
    assert operator.execute_complete({}, {"folder": str(folder.path), "problem": None}) == list(results)
    assert not folder.path.exists()
    facets = operator.get_openlineage_facets_on_complete(None)
    assert [output.name.split("/")[2] for output in facets.outputs] == ["bloom_filter", "range_index"]


def result(status: str, **more: Any) -> dict[str, Any]:
    return asdict(RefreshResult("raw.t", "bloom_filter", status, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize("operator", [JoineryRefreshOperator, BloomFilterOperator])
@pytest.mark.parametrize(("retryable", "error"), [(True, AirflowException), (False, AirflowFailException)])
def test_only_what_a_retry_can_mend_is_tried_again(
    operator: type[Any], retryable: bool, error: type[AirflowException]
) -> None:
    arguments: dict[str, Any] = {"manifest": "m"} if operator is JoineryRefreshOperator else {"keys": ["k"]}
    if operator is BloomFilterOperator:
        arguments["relation"] = "raw.t"
    reason = "s3a://me:hunter2@bucket is not there"
    with pytest.raises(AirflowException) as failed:
        operator(task_id="t", **arguments).outcome([result("failed", reason=reason, retryable=retryable)], {})
    assert type(failed.value) is error
    assert "bloom_filter of raw.t: s3a://***@bucket is not there" in str(failed.value)


def test_relations_that_do_not_exist_yet_skip_the_task_if_there_are_no_others() -> None:
    operator = JoineryRefreshOperator(task_id="t", manifest="m")
    skipped = result("skipped", reason="raw.t does not exist yet")
    with pytest.raises(AirflowSkipException, match=r"raw\.t: raw\.t does not exist yet"):
        operator.outcome([skipped], {})
    with pytest.raises(AirflowSkipException, match="nothing is declared that this task refreshes"):
        operator.outcome([], {})
    done = [skipped, result("unchanged")]
    assert operator.outcome(done, {}) == done


def test_a_selection_is_mapped_and_templated(manifest: Path) -> None:
    with DAG("d", params={"only": ["raw.t"]}, render_template_as_native_obj=True) as dag:
        JoineryRefreshOperator.partial(task_id="each", manifest=manifest).expand(select=[["raw.t"], ["busy"]])
        late = JoineryRefreshOperator(task_id="late", manifest=manifest, select="{{ params.only }}")
    assert dag.get_task("each").is_mapped
    late.render_template_fields({"params": dag.params.dump()})
    assert {request.sql_name for request in late.requests()} == {"raw.t"}


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (
            result("refreshed", mode="incremental", rows=1250, keys=4, hot_keys=0, seconds=1.25, version="v1"),
            "bloom_filter of raw.t: refreshed (incremental), 1,250 rows, 4 keys, 0 hot keys, 1.2 s, version v1",
        ),
        (
            result("refreshed", mode="full", rows=1, version="v2", reason="what was published last cannot be used (x)"),
            "bloom_filter of raw.t: refreshed (full), 1 rows, 0.0 s, version v2; all was read, because what was "
            "published last cannot be used (x)",
        ),
        (result("unchanged", version="v1"), "bloom_filter of raw.t: unchanged, 0.0 s, version v1"),
        (
            result("unchanged", version="v1", unused="it is a view"),
            "bloom_filter of raw.t: unchanged, 0.0 s, version v1; no query uses it: it is a view",
        ),
        (result("failed", reason="password=hunter2 is wrong"), "bloom_filter of raw.t: password=*** is wrong"),
    ],
)
def test_a_result_is_one_line_of_the_log(shown: dict[str, Any], line: str) -> None:
    assert summary(shown) == line


TROUBLED = {
    "damaged": result("refreshed", mode="full", version="v2", was_damaged=True, reason="cannot be used (cut)"),
    "skipped": result("skipped", reason="raw.t does not exist yet"),
    "never used": result("unchanged", version="v1", unused="the key k is a partition column"),
}


@pytest.mark.parametrize("trouble", TROUBLED)
def test_a_task_fails_on_what_it_is_asked_to_fail_on(
    trouble: Any, manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_JOINERY_DEFAULT", json.dumps({"conn_type": "joinery"}))
    progress = Progress(state="done", results=(result("unchanged"), TROUBLED[trouble]))
    others: Any = [other for other in TROUBLED if other != trouble]

    def ended(fail_on: Any) -> Any:
        operator = JoineryRefreshOperator(task_id="t", manifest=manifest, fail_on=fail_on)
        folder = BatchFolder.create(tmp_path / uuid.uuid4().hex, Batch([]))
        folder.write_progress(progress)
        return operator.execute_complete({}, {"folder": str(folder.path), "problem": None})

    assert ended(others) == list(progress.results)
    with pytest.raises(AirflowFailException, match=f"1 artifacts need a look.*\n  - {trouble}: bloom_filter of raw.t"):
        ended([trouble])


@pytest.mark.parametrize(("retryable", "error"), [(True, AirflowException), (False, AirflowFailException)])
def test_what_needs_a_look_hides_no_failure_and_takes_no_retry(retryable: bool, error: type[AirflowException]) -> None:
    operator = JoineryRefreshOperator(task_id="t", manifest="m", fail_on=["damaged"])
    failed = result("failed", reason="the disk is full", retryable=retryable)
    with pytest.raises(AirflowException) as raised:
        operator._checked_outcome([TROUBLED["damaged"], failed], {})
    assert type(raised.value) is error
    assert "1 of 2 artifacts could not be refreshed:\n  - bloom_filter of raw.t: the disk is full" in str(raised.value)
    assert "1 artifacts need a look, as 'fail_on' asks for:\n  - damaged: bloom_filter of raw.t" in str(raised.value)


def test_a_task_that_would_be_skipped_fails_if_asked_to() -> None:
    operator = BloomFilterOperator(task_id="t", relation="raw.t", keys=["k"], fail_on=["skipped"])
    with pytest.raises(AirflowFailException, match="1 artifacts need a look"):
        operator._checked_outcome([TROUBLED["skipped"]], {})


@pytest.mark.parametrize("fail_on", ["damaged", ["stale"]])
def test_an_unknown_trouble_is_refused_while_the_dag_is_parsed(fail_on: Any) -> None:
    with pytest.raises(AirflowFailException, match="fail_on: expected a list of 'damaged', 'skipped', 'never used'"):
        JoineryRefreshOperator(task_id="t", manifest="m", fail_on=fail_on)
