"""The tasks of the nightly DAG that refresh artifacts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

from airflow.providers.common.compat.sdk import TaskGroup, literal

from spark_joinery.airflow.assets import artifact_asset, relation_asset
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator
from spark_joinery.airflow.operators.distribution import SkewDistributionOperator
from spark_joinery.airflow.operators.joinery import JoineryRefreshOperator
from spark_joinery.airflow.operators.range_index import RangeIndexOperator
from spark_joinery.airflow.operators.refresh import RefreshOperator
from spark_joinery.metadata import ArtifactRequest, DistributionSpec, Kind, Stage, split_name

if TYPE_CHECKING:
    from airflow.sdk.definitions._internal.node import DAGNode

TaskPer = Literal["stage", "relation", "artifact"]

_OPERATORS: dict[Kind, type[RefreshOperator]] = {
    "bloom_filter": BloomFilterOperator,
    "distribution": SkewDistributionOperator,
    "range_index": RangeIndexOperator,
}


def refresh_group(
    stage: Stage,
    requests: Iterable[ArtifactRequest],
    manifest: str | PathLike[str],
    task_per: TaskPer,
    default_args: dict[str, Any],
    builds: Mapping[str, DAGNode],
    others: Iterable[DAGNode],
) -> TaskGroup | None:
    """
    Make the tasks of one stage.

    :param stage: stage of the tasks, and name of their group
    :param requests: of all stages
    :param manifest: where they are declared
    :param task_per: unit that gets a task of its own
    :param default_args: of all tasks
    :param builds: from dbt's unique ids to the tasks that build them: a refresh of one waits for its own build
    :param others: tasks that all other refreshes wait for
    :return: the group; None if nothing is declared for this stage
    """
    of_stage = [request for request in requests if request.stage == stage]
    if not of_stage:
        return None
    with TaskGroup(stage, default_args=default_args) as group:  # type: ignore[arg-type]
        if task_per == "stage":
            task = JoineryRefreshOperator(
                task_id="refresh", manifest=fspath(manifest), stage=stage, **_documented(of_stage)
            )
            _follow(task, of_stage, builds, others)
        else:
            for relation in dict.fromkeys(request.relation for request in of_stage):
                requests_of_it = [request for request in of_stage if request.relation == relation]
                if task_per == "relation":
                    node: DAGNode = _relation_task(requests_of_it, manifest)
                else:
                    with TaskGroup(_readable_id(requests_of_it[0])) as node:
                        for request in _distinct(requests_of_it):
                            _artifact_task(request)
                _follow(node, requests_of_it, builds, others)
    return group


def _follow(
    node: DAGNode, requests: list[ArtifactRequest], builds: Mapping[str, DAGNode], others: Iterable[DAGNode]
) -> None:
    """Let a refresh wait for the builds of its own relations, or for all of dbt if the task of a build is unknown."""
    ids = {request.unique_id: None for request in requests}
    for earlier in [builds[unique_id] for unique_id in ids] if ids.keys() <= builds.keys() else others:
        earlier >> node


def _relation_task(requests: list[ArtifactRequest], manifest: str | PathLike[str]) -> JoineryRefreshOperator:
    """Make the task that refreshes all artifacts of one relation."""
    return JoineryRefreshOperator(
        task_id=_readable_id(requests[0]),
        manifest=fspath(manifest),
        **_verbatim({"select": [requests[0].relation]}, JoineryRefreshOperator.template_fields),
        stage=requests[0].stage,
        **_documented(requests),
    )


def _artifact_task(request: ArtifactRequest) -> None:
    """Make the task that refreshes one artifact."""
    operator = _OPERATORS[request.kind]
    # the fields of a specification are the arguments of its operator, but for the limits of hot keys
    declared = request.spec.model_dump(exclude={"hot"})
    if isinstance(request.spec, DistributionSpec) and request.spec.hot:
        declared |= {f"hot_{name}": limit for name, limit in request.spec.hot.model_dump().items()}
    operator(
        # the hash tells two specifications of one relation apart
        task_id=f"{request.kind}__{request.spec_hash[:8]}",
        **_verbatim({"relation": request.sql_name, **declared}, operator.template_fields),
        **_documented([request]),
    )


def _readable_id(request: ArtifactRequest) -> str:
    """An id for the relation that shows its name, as far as an id can, and stays the same from night to night."""
    name = ".".join(split_name(request.sql_name)[-2:])
    digest = hashlib.sha256(request.relation.encode()).hexdigest()[:8]
    return f"{re.sub('[^A-Za-z0-9_]', '_', name)[:120]}__{digest}"


def _verbatim(arguments: dict[str, Any], template_fields: Collection[str]) -> dict[str, Any]:
    """
    Keep Airflow from rendering what a dbt project declares.

    A declaration is data: its author could otherwise read connections and variables through a template. No escape
    within the text is safe: the text may end the escape, and a DAG may have delimiters of its own.
    """
    return {
        name: literal(value) if name in template_fields and value is not None else value
        for name, value in arguments.items()
    }


def _documented(requests: list[ArtifactRequest]) -> dict[str, Any]:
    """Make the text for the task's page, the inlets and the outlets."""
    declared = [{"node": each.unique_id, each.kind: each.spec.model_dump(exclude_none=True)} for each in requests]
    # JSON escapes line breaks, so no declared text can end the block or begin another
    block = json.dumps(declared if len(declared) > 1 else declared[0], indent=2)
    return {
        "doc_md": f"`meta.joinery` in the dbt project:\n\n```json\n{block}\n```\n",
        "inlets": [relation_asset(relation) for relation in dict.fromkeys(each.relation for each in requests)],
        "outlets": [artifact_asset(each) for each in _distinct(requests)],
    }


def _distinct(requests: Iterable[ArtifactRequest]) -> list[ArtifactRequest]:
    """One request for each artifact: two nodes may name one table, and a declaration may say the same twice."""
    return list({(each.relation, each.kind, each.spec_hash): each for each in requests}.values())
