"""The arguments of the operators. (Spark itself: test_run.py.)"""

from __future__ import annotations

import json
from collections import UserList
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import (
    DAG,
    AirflowException,
    AirflowFailException,
    BaseOperator,
)
from spark_joinery.airflow.dags import joinery_refresh_dag
from spark_joinery.airflow.operators.application import ApplicationOperator
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator
from spark_joinery.airflow.operators.distribution import SkewDistributionOperator
from spark_joinery.airflow.operators.joinery import JoineryRefreshOperator
from spark_joinery.airflow.operators.range_index import RangeIndexOperator
from spark_joinery.airflow.operators.refresh import RefreshOperator
from spark_joinery.airflow.sensors.freshness import ArtifactFreshnessSensor
from spark_joinery.airflow.tasks import TaskPer
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
    """An unknown kind matches no artifact: the operator would skip every night, the sensor would wait for nothing."""
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
    """`kinds` is not a template, so the output of another task is refused like an iterator or a number."""
    for kinds in (iter(["distribution"]), BloomFilterOperator(task_id="b", relation="raw.t", keys=["k"]).output, 1):
        with pytest.raises(AirflowFailException, match="'t': kinds: expected a list of 'distribution', "):
            operator(task_id="t", manifest="/m.json", kinds=kinds)


def test_a_stage_that_there_is_not_is_an_import_error() -> None:
    says = r"'t': stage: expected 'before_models' or 'after_models', found 'before'$"
    with pytest.raises(AirflowFailException, match=says):
        JoineryRefreshOperator(task_id="t", manifest="/m.json", stage="before")  # type: ignore[arg-type]


def test_names_that_a_mapped_task_returned(manifest: Path) -> None:
    """Airflow hands over the names in its own sequence type, which is not a list."""
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
    """The task reads the manifest when it runs, and warns of artifacts in the DAG that are no longer declared."""
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


def test_a_selection_is_mapped_and_templated(manifest: Path) -> None:
    with DAG("d", params={"only": ["raw.t"]}, render_template_as_native_obj=True) as dag:
        JoineryRefreshOperator.partial(task_id="each", manifest=manifest).expand(select=[["raw.t"], ["busy"]])
        late = JoineryRefreshOperator(task_id="late", manifest=manifest, select="{{ params.only }}")
    assert dag.get_task("each").is_mapped
    late.render_template_fields({"params": dag.params.dump()})
    assert {request.sql_name for request in late.requests()} == {"raw.t"}


@pytest.mark.parametrize("fail_on", ["damaged", ["stale"]])
def test_an_unknown_trouble_is_refused_while_the_dag_is_parsed(fail_on: Any) -> None:
    with pytest.raises(AirflowFailException, match="fail_on: expected a list of 'damaged', 'skipped', 'never used'"):
        JoineryRefreshOperator(task_id="t", manifest="m", fail_on=fail_on)
