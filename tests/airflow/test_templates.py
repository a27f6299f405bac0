"""Airflow renders no text that a dbt project declares, even if it looks like a template."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from airflow.providers.common.compat.sdk import DAG, Connection
from spark_joinery.airflow.dags import joinery_refresh_dag
from spark_joinery.airflow.operators.joinery import JoineryRefreshOperator
from spark_joinery.airflow.operators.refresh import RefreshOperator
from spark_joinery.airflow.tasks import TaskPer
from spark_joinery.metadata import BloomFilterSpec, DistributionSpec, RangeIndexSpec

pytestmark = pytest.mark.airflow

PASSWORD = "a-password-that-nobody-may-read"
HOSTILE = [
    "{% endraw %}{{ conn.x.password }}{% raw %}",
    "{%- endraw -%}{{ conn.x.password }}{%- raw -%}",
    "{{ '{% endraw %}' }}{{ conn['x'].password }}",
    "{{ conn.x.password }}",
    "{{ var.value.x }}",
    "{% include '/etc/passwd' %}",
    "{# a comment #}",
    "{{ unclosed",
    "<< conn.x.password >>",
    "[1, 2]",
    "password.sql",
    "```\n[here](https://example.org)\n```",
    "名前 = 'x'; -- {{ ds }}",
]


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The context that templates read, with the password of a connection."""
    secret = {"conn_type": "generic", "password": PASSWORD}
    monkeypatch.setenv("AIRFLOW_CONN_X", json.dumps(secret))
    connection = Connection(conn_id="x", conn_type="generic", password=PASSWORD)
    return {"conn": {"x": connection}, "var": {"value": {"x": PASSWORD}}, "ds": "2026-01-01", "params": {}}


def relation(text: str) -> str:
    """The name of a relation. It has no line breaks, because a manifest with them is refused."""
    return "raw.`" + text.replace("`", "``").replace("\n", " ") + "`"


def manifest(folder: Path, text: str) -> Path:
    """A manifest with a given text in each place where a declaration can have text."""
    joinery = {
        "bloom_filters": [{"keys": [text], "where": text}],
        "distributions": [{"partition_by": [text], "order_by": text}],
        "range_indexes": [{"start": text, "end": f"{text}_end", "columns": [text]}],
    }
    node = {"resource_type": "source", "relation_name": relation(text), "config": {"meta": {"joinery": joinery}}}
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {},
        "sources": {f"source.shop.raw.{text}": node},
    }
    path = folder / "manifest.json"
    path.write_text(json.dumps(document))
    return path


def rendered(dag: DAG, context: dict[str, Any]) -> dict[str, RefreshOperator]:
    """The DAG's refresh tasks by kind, with their templates rendered as for execution."""
    tasks = {task.request().kind: task for task in _refreshes(dag, context)}
    assert len(tasks) == 3
    return tasks


def _refreshes(dag: DAG, context: dict[str, Any]) -> list[RefreshOperator]:
    tasks = [task for task in dag.tasks if isinstance(task, RefreshOperator)]
    for task in tasks:
        task.render_template_fields(context)
    return tasks


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("native", [False, True])
def test_no_text_of_a_declaration_is_rendered(tmp_path: Path, context: dict[str, Any], text: str, native: bool) -> None:
    dag = joinery_refresh_dag(
        manifest(tmp_path, text),
        task_per="artifact",
        render_template_as_native_obj=native,
        jinja_environment_kwargs={"variable_start_string": "<<", "variable_end_string": ">>"} if "<<" in text else {},
    )
    tasks = rendered(dag, context)
    assert {task.relation for task in tasks.values()} == {relation(text)}
    assert tasks["bloom_filter"].request().spec == BloomFilterSpec(keys=[text], where=text)
    assert tasks["distribution"].request().spec == DistributionSpec(partition_by=[text], order_by=text)
    assert tasks["range_index"].request().spec == RangeIndexSpec(start=text, end=f"{text}_end", columns=[text])
    assert PASSWORD not in str([vars(task) for task in tasks.values()])


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("task_per", ["stage", "relation"])
def test_what_reads_the_manifest_itself_renders_none_of_it(
    tmp_path: Path, context: dict[str, Any], text: str, task_per: TaskPer
) -> None:
    dag = joinery_refresh_dag(manifest(tmp_path, text), task_per=task_per)
    (task,) = (task for task in dag.tasks if isinstance(task, JoineryRefreshOperator))
    task.render_template_fields(context)
    specs = [request.spec for request in task.requests()]
    assert BloomFilterSpec(keys=[text], where=text) in specs
    assert len(specs) == 3
    assert PASSWORD not in str(vars(task))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_declaration_stays_within_its_block_of_the_documentation(tmp_path: Path, text: str) -> None:
    for task in joinery_refresh_dag(manifest(tmp_path, text), task_per="artifact").tasks:
        if isinstance(task, RefreshOperator):
            introduction, _, begin, *block, end = (task.doc_md or "").split("\n")[:-1]
            assert (introduction, begin, end) == ("`meta.joinery` in the dbt project:", "```json", "```")
            assert json.loads("\n".join(block))["node"] == f"source.shop.raw.{text}"
            assert not [line for line in block if line.lstrip().startswith("```")]


def test_the_dag_is_the_same_each_time_it_is_parsed(tmp_path: Path) -> None:
    """If the DAG differed, Airflow would store a new version of it every few seconds."""
    try:
        from airflow.serialization.serialized_objects import DagSerialization
    except ImportError:  # Airflow 3.0
        from airflow.serialization.serialized_objects import SerializedDAG as DagSerialization

    path = manifest(tmp_path, HOSTILE[0])

    def serialized(task_per: TaskPer) -> str:
        return json.dumps(DagSerialization.to_dict(joinery_refresh_dag(path, task_per=task_per)), default=str)

    for task_per in get_args(TaskPer):
        assert serialized(task_per) == serialized(task_per)
