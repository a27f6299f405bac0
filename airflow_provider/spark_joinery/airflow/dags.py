"""The nightly DAG, made from what a dbt project declares under `meta.joinery`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args

from airflow.providers.common.compat.sdk import DAG, Param, TriggerRule
from airflow.providers.standard.operators.empty import EmptyOperator

from spark_joinery.airflow.declared import declared
from spark_joinery.airflow.tasks import TaskPer, refresh_group
from spark_joinery.errors import InvalidArgumentError

if TYPE_CHECKING:
    from airflow.sdk.definitions._internal.node import DAGNode

OnRefreshFailure = Literal["continue", "fail"]

_START = datetime(2025, 1, 1, tzinfo=timezone.utc)


def joinery_refresh_dag(
    manifest: str | PathLike[str],
    *,
    dag_id: str = "joinery_refresh",
    schedule: Any = "@daily",
    conn_id: str | None = None,
    build_models: Callable[[], DAGNode | Mapping[str, DAGNode]] | None = None,
    on_refresh_failure: OnRefreshFailure = "continue",
    task_per: TaskPer = "stage",
    refresh_timeout: timedelta = timedelta(hours=1),
    pool: str | None = None,
    deferrable: bool | None = None,
    **dag_arguments: Any,
) -> DAG:
    """
    Make the DAG that refreshes all declared artifacts.

    Sources are refreshed first (task group ``before_models``), then dbt builds its models (``build_models``), then
    seeds, snapshots and models are refreshed (``after_models``). A relation that does not exist yet is skipped;
    an artifact whose source did not change stays as it is.

    Artifacts make queries faster and do not change results, so dbt also runs if a refresh has failed or is late. The
    last task, ``all_refreshed``, then fails the run when everything else is done, so that somebody looks at it.

    A run with the parameter ``full_refresh`` reads everything again.

    :param manifest: path or URI of dbt's ``manifest.json``; read when it has changed since the DAG file was last parsed
    :param dag_id: id of the DAG
    :param schedule: as in ``DAG``
    :param conn_id: connection of type ``joinery``; default: ``joinery_default``
    :param build_models: called inside the DAG; returns the task or task group that runs dbt, or a dictionary from
        dbt's unique ids to the tasks that build them. If it returns a dictionary, or a ``DbtTaskGroup`` of
        astronomer-cosmos, a model is refreshed right after its own build. Default: dbt runs elsewhere, and the DAG
        only refreshes
    :param on_refresh_failure: "continue" to run dbt even if the refresh before it fails; "fail" to stop before dbt
    :param task_per: "stage" for one task, and one Spark application, before dbt and one after it; "relation" for a
        task per relation, which may run at the same time; "artifact" for a task per artifact
    :param refresh_timeout: a refresh that takes longer is ended and counts as failed
    :param pool: pool of the tasks that refresh; its slots limit how many run at the same time. An embedded Derby
        metastore needs a pool with one slot, unless there is one task per stage; default: Airflow's default pool
    :param deferrable: as in the operators
    :param dag_arguments: further arguments of ``DAG``: ``start_date``, ``default_args``, ``tags``, ...
    :return: the DAG; assign it to a variable of the DAG file
    :raises InvalidArgumentError: if ``on_refresh_failure`` or ``task_per`` has an unknown value
    :raises spark_joinery.metadata.ManifestError: if the manifest cannot be used; Airflow shows it as an import error

    .. code-block:: python

        dag = joinery_refresh_dag("/opt/dbt/target/manifest.json", schedule="@daily")
    """
    _check("on_refresh_failure", on_refresh_failure, OnRefreshFailure)
    _check("task_per", task_per, TaskPer)
    requests = declared(manifest)
    full_refresh = Param(False, type="boolean", description="Read everything, also where nothing or little is new")
    arguments: dict[str, Any] = {
        "start_date": _START,
        "catchup": False,
        "max_active_runs": 1,
        "tags": ["joinery"],
        "description": f"Refresh of {len(requests)} Joinery artifacts",
        **dag_arguments,
        "params": {"full_refresh": full_refresh, **(dag_arguments.get("params") or {})},
    }
    # only for the groups that refresh: dbt's tasks have the DAG's own
    defaults: dict[str, Any] = {
        "execution_timeout": refresh_timeout,
        # an error that a retry cannot cure fails the task at once
        "retries": 1,
        "retry_delay": timedelta(minutes=1),
        # runs after a skipped build, too: its relation may have rows that are newer than the last refresh
        "trigger_rule": TriggerRule.NONE_FAILED,
        **(dag_arguments.get("default_args") or {}),
    }
    given = {"pool": pool, "joinery_conn_id": conn_id, "deferrable": deferrable}
    defaults |= {name: value for name, value in given.items() if value is not None}
    continues = on_refresh_failure == "continue"
    with DAG(dag_id, schedule=schedule, **arguments) as dag:
        before = refresh_group("before_models", requests, manifest, task_per, defaults, {}, [])
        # dbt runs although a source does not exist yet and, by default, although a source cannot be read
        rule = TriggerRule.ALL_DONE if continues else TriggerRule.NONE_FAILED
        refreshed = EmptyOperator(task_id="sources_refreshed", trigger_rule=rule)
        built = build_models() if build_models else None
        builds = _builds(built)
        dbt = list(built.values()) if isinstance(built, Mapping) else [built] if built is not None else []
        for step in dbt:
            refreshed >> step
        after = refresh_group("after_models", requests, manifest, task_per, defaults, builds, dbt or [refreshed])
        # a run's state is that of its last tasks
        all_refreshed = EmptyOperator(task_id="all_refreshed", trigger_rule=TriggerRule.NONE_FAILED)
        if before is not None:
            before >> [refreshed, all_refreshed]
        if after is not None:
            after >> all_refreshed
        # if each build has its own task, some of them have no refresh after them
        if after is None or builds:
            for step in dbt or [refreshed]:
                step >> all_refreshed
    return dag


def _builds(built: DAGNode | Mapping[str, DAGNode] | None) -> Mapping[str, DAGNode]:
    """Map dbt's unique ids to the tasks that build them; empty if these are not known."""
    if isinstance(built, Mapping):
        return built
    # a DbtTaskGroup of astronomer-cosmos has such a mapping, too
    tasks = getattr(built, "tasks_map", None)
    return tasks if isinstance(tasks, Mapping) else {}


def _check(name: str, value: object, allowed: Any) -> None:
    if value not in get_args(allowed):
        choices = " or ".join(f"'{choice}'" for choice in get_args(allowed))
        raise InvalidArgumentError(f"joinery_refresh_dag: {name} is {value!r}, expected {choices}")
