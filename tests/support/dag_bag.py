"""Airflow's DagBag, which has moved."""

from __future__ import annotations

try:
    from airflow.dag_processing.dagbag import DagBag
except ModuleNotFoundError:  # Airflow 3.0
    from airflow.models.dagbag import DagBag

__all__ = ["DagBag"]
