"""Nightly refresh around `dbt build`, and one distribution by hand."""

from __future__ import annotations

import os

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

from spark_joinery.airflow.dags import joinery_refresh_dag
from spark_joinery.airflow.operators.distribution import SkewDistributionOperator

DBT_PROJECT_DIR = os.environ.get("DBT_PROJECT_DIR", "/opt/airflow/dbt")

# [START howto_joinery_refresh_dag]
nightly = joinery_refresh_dag(
    f"{DBT_PROJECT_DIR}/target/manifest.json",
    dag_id="example_joinery_refresh",
    schedule="0 3 * * *",
    build_models=lambda: BashOperator(task_id="dbt_build", bash_command="dbt build", cwd=DBT_PROJECT_DIR),
)
# [END howto_joinery_refresh_dag]

with DAG("example_joinery_distribution", schedule=None, max_active_runs=1, tags=["joinery"]) as by_hand:
    # [START howto_operator_skew_distribution]
    SkewDistributionOperator(
        task_id="flights_by_carrier",
        relation="raw.flights",
        partition_by=["carrier"],
        order_by="departs_at",
        quantiles=16,
        hot_min_rows=1_000_000,
    )
    # [END howto_operator_skew_distribution]
