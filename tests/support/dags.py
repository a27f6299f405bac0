"""Airflow's DagBag, and a run of a DAG in this process: both are elsewhere in Airflow 3.0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    from airflow.dag_processing.dagbag import DagBag
except ModuleNotFoundError:
    from airflow.models.dagbag import DagBag

if TYPE_CHECKING:
    from airflow.models import DagRun

__all__ = ["DagBag", "run_here"]


def run_here(dag: Any, **arguments: Any) -> DagRun:
    """Run a DAG once, as `airflow dags test` does.

    Args:
        dag: Of a DagBag.
        arguments: Of the run.

    Returns:
        The run, which has ended.
    """
    if not hasattr(dag, "test"):
        from airflow.dag_processing.bundles.manager import DagBundlesManager
        from airflow.models.dag import DAG

        dag = DAG.from_sdk_dag(dag)
        # its tasks refuse assets that no DAG processor has seen
        DagBundlesManager().sync_bundles_to_db()
        DAG.bulk_write_to_db("dags-folder", None, [dag])
    done: DagRun = dag.test(**arguments)
    return done
