"""Run an example DAG in a process of its own, and report what its tasks did.

Usage: nightly_run.py REPORT [DAG], with Airflow, dbt and the connection `joinery_default` in the environment, and
`tests` on the path.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from airflow.models import TaskInstance
from airflow.models.xcom import XComModel
from airflow.settings import Session
from sqlalchemy import select
from support.dags import DagBag, run_here


def run(dag_id: str) -> dict[str, Any]:
    """Run a DAG as a manual run without logical date."""
    bag = DagBag()
    assert not bag.import_errors, bag.import_errors
    done = run_here(bag.dags[dag_id], logical_date=None)
    session = Session()
    pushed = session.scalars(select(XComModel).where(XComModel.run_id == done.run_id)).all()
    return {
        "state": done.state,
        "logical_date": done.logical_date,
        "tasks": {_name(task): task.state for task in done.get_task_instances(session=session)},
        "results": {row.task_id: XComModel.deserialize_value(row) for row in pushed if row.key == "return_value"},
        "links": {
            f"{row.task_id} {row.key}": XComModel.deserialize_value(row) for row in pushed if "link" in row.key.lower()
        },
    }


def _name(task: TaskInstance) -> str:
    """The task's id; a mapped task's has its index after it."""
    return task.task_id if task.map_index < 0 else f"{task.task_id}[{task.map_index}]"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(run(*(sys.argv[2:] or ["example_joinery_refresh"])), default=str))
