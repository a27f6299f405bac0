"""The nightly DAG, made from what a dbt project declares under `meta.joinery`."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timezone
from os import PathLike
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, TaskGroup, TriggerRule, literal

from spark_joinery.airflow.hooks.joinery import JoineryHook
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator
from spark_joinery.airflow.operators.distribution import SkewDistributionOperator
from spark_joinery.airflow.operators.range_index import RangeIndexOperator
from spark_joinery.airflow.operators.refresh import RefreshOperator
from spark_joinery.metadata import ArtifactRequest, DistributionSpec, Kind, Stage, read_manifest, split_name

if TYPE_CHECKING:
    from airflow.sdk.definitions._internal.node import DAGNode

_START = datetime(2025, 1, 1, tzinfo=timezone.utc)

_OPERATORS: dict[Kind, type[RefreshOperator]] = {
    "bloom_filter": BloomFilterOperator,
    "distribution": SkewDistributionOperator,
    "range_index": RangeIndexOperator,
}


def joinery_refresh_dag(
    manifest: str | PathLike[str],
    *,
    dag_id: str = "joinery_refresh",
    schedule: Any = "@daily",
    conn_id: str = JoineryHook.default_conn_name,
    build_models: Callable[[], DAGNode] | None = None,
    max_active_tasks: int = 1,
    **dag_arguments: Any,
) -> DAG:
    """
    Make the DAG that refreshes all declared artifacts.

    Sources are refreshed first (task group ``before_models``), then dbt builds its models (``build_models``), then
    seeds, snapshots and models are refreshed (``after_models``). A relation that does not exist yet is skipped and
    stops nothing; an artifact whose source did not change is left as it is.

    One run and one task at a time: embedded Derby serves one JVM. Raise ``max_active_tasks`` where Spark has a Hive
    metastore server.

    :param manifest: path of dbt's ``manifest.json``; read whenever Airflow parses the DAG file
    :param dag_id: id of the DAG
    :param schedule: as in ``DAG``
    :param conn_id: connection of type ``joinery``
    :param build_models: called inside the DAG; returns the task or task group that runs dbt. Without it dbt runs
        elsewhere, and everything is refreshed in one go
    :param max_active_tasks: tasks that run at the same time
    :param dag_arguments: further arguments of ``DAG``: ``start_date``, ``default_args``, ``tags``, ...
    :return: the DAG; assign it to a variable of the DAG file
    :raises spark_joinery.metadata.ManifestError: if the manifest cannot be used; Airflow shows it as an import error
    """
    requests = read_manifest(manifest).requests
    arguments: dict[str, Any] = {
        "start_date": _START,
        "catchup": False,
        "max_active_runs": 1,
        "tags": ["joinery"],
        "description": f"Refresh of {len(requests)} Joinery artifacts",
        **dag_arguments,
    }
    with DAG(dag_id, schedule=schedule, max_active_tasks=max_active_tasks, **arguments) as dag:
        before = _group("before_models", requests, conn_id)
        # NONE_FAILED: a source that does not exist yet must not keep dbt from running
        refreshed = EmptyOperator(task_id="sources_refreshed", trigger_rule=TriggerRule.NONE_FAILED)
        built = build_models() if build_models else None
        after = _group("after_models", requests, conn_id)
        steps = [step for step in (before, refreshed, built, after) if step is not None]
        for earlier, later in itertools.pairwise(steps):
            earlier >> later
    return dag


def _group(stage: Stage, requests: Iterable[ArtifactRequest], conn_id: str) -> TaskGroup | None:
    """Make the tasks of one stage, in a task group, if there are any."""
    of_stage = [request for request in requests if request.stage == stage]
    if not of_stage:
        return None
    with TaskGroup(stage) as group:
        for request in of_stage:
            _task(request, conn_id)
    return group


def _task(request: ArtifactRequest, conn_id: str) -> RefreshOperator:
    """Make the task that refreshes one artifact."""
    # the fields of a specification are the arguments of its operator, but for the limits of hot keys
    arguments = request.spec.model_dump(exclude={"hot"})
    if isinstance(request.spec, DistributionSpec) and request.spec.hot:
        arguments |= {f"hot_{name}": limit for name, limit in request.spec.hot.model_dump().items()}
    return _OPERATORS[request.kind](
        task_id=_task_id(request),
        doc_md=_doc(request),
        joinery_conn_id=conn_id,
        **_verbatim({"relation": request.sql_name, **arguments}, _OPERATORS[request.kind].template_fields),
    )


def _verbatim(arguments: dict[str, Any], template_fields: Collection[str]) -> dict[str, Any]:
    """
    Keep Airflow from rendering what a dbt project declares.

    A declaration is data: whoever may write one could otherwise read connections and variables through a template. No
    escape within the text is safe, as the text may end it, and a DAG may have delimiters of its own.
    """
    return {
        name: literal(value) if name in template_fields and value is not None else value
        for name, value in arguments.items()
    }


def _task_id(request: ArtifactRequest) -> str:
    """Readable, and the same from night to night; the hash tells two specifications of one relation apart."""
    name = ".".join(split_name(request.sql_name)[-2:])
    return f"{request.kind}__{re.sub('[^A-Za-z0-9_]', '_', name)[:120]}__{request.spec_hash[:8]}"


def _doc(request: ArtifactRequest) -> str:
    """What the task's page shows: where the declaration comes from, and its text."""
    declared = {"node": request.unique_id, request.kind: request.spec.model_dump(exclude_none=True)}
    # as JSON, no line of what was declared can end the block or begin one of its own
    return f"`meta.joinery` in the dbt project:\n\n```json\n{json.dumps(declared, indent=2)}\n```\n"
