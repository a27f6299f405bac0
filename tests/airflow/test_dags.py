"""The DAG made from the manifest of a real dbt project."""

from __future__ import annotations

from pathlib import Path

import pytest
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG
from spark_joinery.airflow.dags import joinery_refresh_dag
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator
from spark_joinery.airflow.operators.distribution import SkewDistributionOperator
from spark_joinery.airflow.operators.range_index import RangeIndexOperator
from spark_joinery.airflow.operators.refresh import RefreshOperator
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
    """A task's id without the hash of its specification."""
    return task_id.rpartition("__")[0]


def test_one_task_per_artifact_around_the_models(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest, build_models=lambda: BashOperator(task_id="dbt", bash_command="true"))
    before = {task for task in dag.task_ids if task.startswith("before_models.")}
    after = {task for task in dag.task_ids if task.startswith("after_models.")}
    assert {short(task) for task in before} == {
        "before_models.distribution__raw_flights",
        "before_models.bloom_filter__raw_flights",
        "before_models.distribution__raw_not_loaded_yet",
    }
    assert {short(task) for task in after} == {
        "after_models.distribution__marts_busy",
        "after_models.range_index__marts_busy",
    }
    expected = {task: {"sources_refreshed"} for task in before} | {task: set() for task in after}
    assert edges(dag) == expected | {"sources_refreshed": {"dbt"}, "dbt": after}


def test_tasks_carry_what_was_declared(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest, conn_id="lake")
    tasks = {short(task_id): dag.get_task(task_id) for task_id in dag.task_ids}
    declared = {(r.relation, r.spec_hash) for r in read_manifest(manifest).requests}
    expected = {
        "before_models.distribution__raw_flights": (
            SkewDistributionOperator,
            DistributionSpec(partition_by=["carrier"], order_by="departs_at", hot=HotKeys(min_rows=50, min_share=None)),
        ),
        "before_models.bloom_filter__raw_flights": (
            BloomFilterOperator,
            BloomFilterSpec(keys=["carrier"], where="carrier NOT LIKE '{%'"),
        ),
        "after_models.range_index__marts_busy": (
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
    assert "source.shop.raw.flights" in (tasks["before_models.bloom_filter__raw_flights"].doc_md or "")


def test_one_run_and_one_task_at_a_time_unless_told_otherwise(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest)
    assert (dag.dag_id, dag.max_active_runs, dag.max_active_tasks, dag.catchup) == ("joinery_refresh", 1, 1, False)
    dag = joinery_refresh_dag(manifest, dag_id="mine", schedule=None, max_active_tasks=4, tags=["nightly"])
    assert (dag.dag_id, dag.max_active_tasks, dag.tags, dag.schedule) == ("mine", 4, {"nightly"}, None)


def test_without_models_everything_is_refreshed_in_one_go(manifest: Path) -> None:
    dag = joinery_refresh_dag(manifest)
    after = {task for task in dag.task_ids if task.startswith("after_models.")}
    assert edges(dag)["sources_refreshed"] == after


def test_unusable_manifest_is_an_import_error_with_our_words(
    airflow_home: Path, manifest: Path, tmp_path: Path
) -> None:
    from airflow.dag_processing.dagbag import DagBag

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
