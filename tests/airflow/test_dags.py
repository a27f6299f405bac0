"""The DAG made from the manifest of a real dbt project."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import DAG, TriggerRule
from airflow.providers.standard.operators.bash import BashOperator
from spark_joinery.airflow.assets import artifact_asset
from spark_joinery.airflow.dags import OnRefreshFailure, joinery_refresh_dag
from spark_joinery.airflow.operators.application import ApplicationOperator
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator
from spark_joinery.airflow.operators.distribution import SkewDistributionOperator
from spark_joinery.airflow.operators.joinery import JoineryRefreshOperator
from spark_joinery.airflow.operators.range_index import RangeIndexOperator
from spark_joinery.airflow.operators.refresh import RefreshOperator
from spark_joinery.airflow.tasks import TaskPer
from spark_joinery.errors import InvalidArgumentError
from spark_joinery.metadata import (
    BloomFilterSpec,
    DistributionSpec,
    HotKeys,
    ManifestNotFoundError,
    MetaError,
    RangeIndexSpec,
    read_manifest,
)

pytestmark = [pytest.mark.airflow, pytest.mark.dbt]


@pytest.fixture
def manifest(dbt_project: Path) -> Path:
    return dbt_project / "target" / "manifest.json"


def edges(dag: DAG) -> dict[str, set[str]]:
    return {task_id: set(dag.get_task(task_id).downstream_task_ids) for task_id in dag.task_ids}


def short(task_id: str) -> str:
    """A task's id without the hashes of its relation and its specification."""
    return re.sub("__[0-9a-f]{8}", "", task_id)


def dbt() -> BashOperator:
    return BashOperator(task_id="dbt", bash_command="true")


def test_one_task_per_artifact_around_the_models(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest, build_models=dbt, task_per="artifact")
    before = {task for task in dag.task_ids if task.startswith("before_models.")}
    after = {task for task in dag.task_ids if task.startswith("after_models.")}
    assert {short(task) for task in before} == {
        "before_models.raw_flights.distribution",
        "before_models.raw_flights.bloom_filter",
        "before_models.raw_not_loaded_yet.distribution",
    }
    assert {short(task) for task in after} == {
        "after_models.marts_busy.distribution",
        "after_models.marts_busy.range_index",
    }
    expected: dict[str, set[str]] = {task: {"sources_refreshed", "all_refreshed"} for task in before}
    expected |= {task: {"all_refreshed"} for task in after}
    assert edges(dag) == expected | {"sources_refreshed": {"dbt"}, "dbt": after, "all_refreshed": set()}


def test_one_task_per_stage_by_default(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest, build_models=dbt)
    assert edges(dag) == {
        "before_models.refresh": {"sources_refreshed", "all_refreshed"},
        "sources_refreshed": {"dbt"},
        "dbt": {"after_models.refresh"},
        "after_models.refresh": {"all_refreshed"},
        "all_refreshed": set(),
    }
    declared = read_manifest(manifest).requests
    for stage in ("before_models", "after_models"):
        task = dag.get_task(f"{stage}.refresh")
        assert isinstance(task, JoineryRefreshOperator)
        assert task.requests() == [request for request in declared if request.stage == stage]


def test_one_task_per_relation(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest, build_models=dbt, task_per="relation")
    tasks = {short(task.task_id): task for task in dag.tasks if isinstance(task, JoineryRefreshOperator)}
    assert set(tasks) == {
        "before_models.raw_flights",
        "before_models.raw_not_loaded_yet",
        "after_models.marts_busy",
    }
    for task in tasks.values():
        task.render_template_fields({})
    declared = read_manifest(manifest).requests
    flights = [request for request in declared if request.relation == "spark_catalog.raw.flights"]
    assert len(flights) == 2
    assert tasks["before_models.raw_flights"].requests() == flights


@pytest.mark.parametrize(
    ("on_refresh_failure", "rule"), [("continue", TriggerRule.ALL_DONE), ("fail", TriggerRule.NONE_FAILED)]
)
def test_dbt_runs_whatever_becomes_of_a_refresh_unless_told_otherwise(
    manifest: Path, on_refresh_failure: OnRefreshFailure, rule: TriggerRule
) -> None:
    dag = joinery_refresh_dag(manifest, build_models=dbt, on_refresh_failure=on_refresh_failure)
    assert dag.get_task("sources_refreshed").trigger_rule == rule
    assert dag.get_task("dbt").trigger_rule == TriggerRule.ALL_SUCCESS


def test_refreshes_end_in_time_and_are_tried_again_once(manifest: Path) -> None:
    refreshes = [task for task in joinery_refresh_dag(manifest).tasks if isinstance(task, JoineryRefreshOperator)]
    assert len(refreshes) == 2
    for task in refreshes:
        assert (task.execution_timeout, task.retries) == (timedelta(hours=1), 1)
        assert (task.pool, task.deferrable) == ("default_pool", False)
    defaults = {"retries": 3, "retry_delay": timedelta(seconds=5)}
    dag = joinery_refresh_dag(
        manifest, refresh_timeout=timedelta(minutes=5), pool="lake", deferrable=True, default_args=defaults
    )
    task = dag.get_task("before_models.refresh")
    assert isinstance(task, JoineryRefreshOperator)
    assert (task.execution_timeout, task.retries) == (timedelta(minutes=5), 3)
    assert (task.retry_delay, task.pool, task.deferrable) == (timedelta(seconds=5), "lake", True)


@pytest.mark.parametrize("task_per", ["stage", "relation", "artifact"])
def test_default_args_are_defaults(manifest: Path, task_per: TaskPer) -> None:
    """Operators ignore defaults that they have no argument for, and explicit arguments win, as elsewhere in Airflow."""
    defaults = {
        "aws_conn_id": "aws",
        "doc_md": "mine",
        "inlets": [],
        "outlets": [],
        "pool": "derby",
        "joinery_conn_id": "lake",
        "deferrable": True,
        "fail_on": ["damaged"],
        "execution_timeout": timedelta(hours=3),
    }
    dag = joinery_refresh_dag(manifest, default_args=defaults, build_models=dbt, task_per=task_per)
    refreshes = [task for task in dag.tasks if isinstance(task, ApplicationOperator)]
    assert refreshes
    for task in refreshes:
        assert (task.pool, task.joinery_conn_id, task.deferrable, task.fail_on) == ("derby", "lake", True, ["damaged"])
        assert (task.execution_timeout, task.retries) == (timedelta(hours=3), 1)
        assert "meta.joinery" in (task.doc_md or "")
        assert task.outlets
    arguments: Any = {"pool": "lake", "conn_id": "other", "deferrable": False}
    given = joinery_refresh_dag(manifest, default_args=defaults, task_per=task_per, **arguments)
    for task in given.tasks:
        if isinstance(task, ApplicationOperator):
            assert (task.pool, task.joinery_conn_id, task.deferrable) == ("lake", "other", False)


def test_what_a_refresh_has_by_default_is_not_dbts(manifest: Path) -> None:
    task = joinery_refresh_dag(manifest, build_models=dbt, pool="lake").get_task("dbt")
    assert (task.execution_timeout, task.retries, task.pool) == (None, 0, "default_pool")


def test_a_run_can_ask_for_a_full_refresh(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest, params={"mine": 1})
    assert dag.params.dump() == {"full_refresh": False, "mine": 1}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"on_refresh_failure": "ignore"}, "on_refresh_failure is 'ignore', expected 'continue' or 'fail'"),
        ({"task_per": None}, "task_per is None, expected 'stage' or 'relation' or 'artifact'"),
    ],
)
def test_values_that_are_none_are_refused(manifest: Path, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        joinery_refresh_dag(manifest, **arguments)


def test_relations_go_in_and_artifacts_come_out(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest)
    before = dag.get_task("before_models.refresh")
    assert {asset.name for asset in before.inlets} == {"spark_catalog.raw.flights", "spark_catalog.raw.not_loaded_yet"}
    declared = [request for request in read_manifest(manifest).requests if request.stage == "before_models"]
    assert before.outlets == [artifact_asset(request) for request in declared]
    assert len({asset.uri for asset in before.outlets}) == 3
    per_artifact = joinery_refresh_dag(manifest, task_per="artifact")
    for task in per_artifact.tasks:
        if isinstance(task, RefreshOperator):
            assert (len(task.inlets), len(task.outlets)) == (1, 1)


def test_tasks_carry_what_was_declared(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest, conn_id="lake", task_per="artifact")
    tasks = {short(task_id): dag.get_task(task_id) for task_id in dag.task_ids}
    declared = {(r.relation, r.spec_hash) for r in read_manifest(manifest).requests}
    expected = {
        "before_models.raw_flights.distribution": (
            SkewDistributionOperator,
            DistributionSpec(partition_by=["carrier"], order_by="departs_at", hot=HotKeys(min_rows=50, min_share=None)),
        ),
        "before_models.raw_flights.bloom_filter": (
            BloomFilterOperator,
            BloomFilterSpec(keys=["carrier"], where="carrier NOT LIKE '{%'"),
        ),
        "after_models.marts_busy.range_index": (
            RangeIndexOperator,
            RangeIndexSpec(point="departs_at", columns=["carrier"]),
        ),
    }
    for task_id, (operator, spec) in expected.items():
        task = tasks[task_id]
        assert isinstance(task, operator)
        assert isinstance(task, RefreshOperator)
        assert (task.joinery_conn_id, task.full_refresh) == ("lake", False)
        task.render_template_fields({})
        request = task.request()
        assert request.spec == spec
        assert (request.relation, request.spec_hash) in declared
    assert "source.shop.raw.flights" in (tasks["before_models.raw_flights.bloom_filter"].doc_md or "")


def test_one_run_at_a_time_unless_told_otherwise(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest)
    assert (dag.dag_id, dag.max_active_runs, dag.max_active_tasks, dag.catchup) == ("joinery_refresh", 1, 16, False)
    dag = joinery_refresh_dag(manifest, dag_id="mine", schedule=None, max_active_tasks=4, tags=["nightly"])
    assert (dag.dag_id, dag.max_active_tasks, dag.tags, dag.schedule) == ("mine", 4, {"nightly"}, None)


def test_a_model_is_refreshed_right_after_its_own_build(manifest: Path) -> None:
    def builds() -> dict[str, BashOperator]:
        names = ("model.shop.busy", "model.shop.quiet")
        return {name: BashOperator(task_id=name, bash_command="true") for name in names}

    dag = joinery_refresh_dag(manifest, build_models=builds, task_per="relation")
    (busy,) = (task for task in dag.task_ids if task.startswith("after_models."))
    assert edges(dag)["sources_refreshed"] == {"model.shop.busy", "model.shop.quiet"}
    assert edges(dag)["model.shop.busy"] == {busy, "all_refreshed"}
    assert edges(dag)["model.shop.quiet"] == {"all_refreshed"}
    assert edges(dag)[busy] == {"all_refreshed"}


def test_a_model_whose_build_is_not_known_waits_for_all_of_dbt(manifest: Path) -> None:
    def builds() -> dict[str, BashOperator]:
        return {name: BashOperator(task_id=name, bash_command="true") for name in ("some", "others")}

    dag = joinery_refresh_dag(manifest, build_models=builds)
    assert edges(dag)["some"] == edges(dag)["others"] == {"after_models.refresh", "all_refreshed"}


@pytest.mark.parametrize("task_per", ["stage", "relation", "artifact"])
def test_what_is_declared_twice_has_one_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task_per: TaskPer
) -> None:
    """Two sources, say of two packages, may name one table, and a list may declare an artifact twice."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    filters = [{"keys": ["k"]}, {"keys": ["k"], "fpp": 0.01}]
    source = {
        "resource_type": "source",
        "relation_name": "raw.t",
        "config": {"meta": {"joinery": {"bloom_filters": filters, "range_indexes": [{"point": "ts"}]}}},
    }
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {},
        "sources": {"source.one.raw.t": source, "source.other.raw.t": source},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(document))
    dag = joinery_refresh_dag(tmp_path / "manifest.json", task_per=task_per)
    tasks = [dag.get_task(task_id) for task_id in dag.task_ids if task_id.startswith("before_models.")]
    assert len(tasks) == (2 if task_per == "artifact" else 1)
    assert sorted(outlet.name.partition(" ")[0] for task in tasks for outlet in task.outlets) == [
        "bloom_filter",
        "range_index",
    ]


def test_without_models_everything_is_refreshed_in_one_go(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest, task_per="artifact")
    after = {task for task in dag.task_ids if task.startswith("after_models.")}
    assert edges(dag)["sources_refreshed"] == after


def test_unusable_manifest_is_an_import_error_with_our_words(
    airflow_home: Path, manifest: Path, tmp_path: Path
) -> None:
    from support.dags import DagBag

    bad = tmp_path / "manifest.json"
    bad.write_text(manifest.read_text().replace('"hot": {"min_rows": 50}', '"hott": {"min_rows": 50}'))
    dags = tmp_path / "dags"
    dags.mkdir()
    for name, path in (("unknown_key", bad), ("no_file", tmp_path / "gone.json"), ("good", manifest)):
        (dags / f"{name}.py").write_text(
            "from spark_joinery.airflow.dags import joinery_refresh_dag\n"
            f"dag = joinery_refresh_dag({str(path)!r}, dag_id={name!r})\n"
        )
    bag = DagBag(dags)
    errors = {Path(file).name: text for file, text in bag.import_errors.items()}
    assert set(bag.dags) == {"good"}
    assert set(errors) == {"unknown_key.py", "no_file.py"}
    assert ManifestNotFoundError.__name__ in errors["no_file.py"]
    assert f"{tmp_path / 'gone.json'}: no such file. `dbt parse` writes it" in errors["no_file.py"]
    assert MetaError.__name__ in errors["unknown_key.py"]
    assert (
        "source.shop.raw.flights (models/sources.yml): meta.joinery.distributions[0].hott: unknown key, "
        "expected one of partition_by, order_by, quantiles, hot; did you mean 'hot'?"
    ) in errors["unknown_key.py"]
