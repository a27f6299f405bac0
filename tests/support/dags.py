"""Airflow's DagBag, and a function that runs a DAG in this process. Airflow 3.0 has both in other modules."""

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
        dag: A DAG of a DagBag.
        arguments: Arguments of `dag.test`.

    Returns:
        The ended run.
    """
    if not hasattr(dag, "test"):
        from airflow.dag_processing.bundles.manager import DagBundlesManager
        from airflow.models.dag import DAG

        dag = DAG.from_sdk_dag(dag)
        # tasks refuse assets that no DAG processor has seen
        DagBundlesManager().sync_bundles_to_db()
        DAG.bulk_write_to_db("dags-folder", None, [dag])
    done: DagRun = dag.test(**arguments)
    return done
