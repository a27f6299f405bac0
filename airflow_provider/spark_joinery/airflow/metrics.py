"""Counts and times of refreshes, sent like Airflow's own metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from airflow.providers.common.compat.sdk import Stats


def count(results: Iterable[Mapping[str, Any]], dag_id: str, task_id: str) -> None:
    """
    Count the results of artifacts, and send the time that each took.

    :param results: the fields of a :class:`spark_joinery.jobs.RefreshResult` for each artifact
    :param dag_id: of the DAG that refreshed them
    :param task_id: of the task
    """
    for result in results:
        tags = {"dag_id": dag_id, "task_id": task_id, "kind": result["kind"]}
        Stats.incr(f"joinery.artifacts.{result['status']}", tags=tags)
        if result["was_damaged"]:
            Stats.incr("joinery.artifacts.damaged", tags=tags)
        if result["unused"]:
            Stats.incr("joinery.artifacts.never_used", tags=tags)
        Stats.timing("joinery.artifact.duration", timedelta(seconds=result["seconds"]), tags=tags)
