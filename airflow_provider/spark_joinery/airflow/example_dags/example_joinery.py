"""Nightly refresh around `dbt build`, a task for each relation of a manifest, and one artifact of each kind by hand."""

from __future__ import annotations

import os
from datetime import timedelta

from airflow.providers.common.compat.sdk import TriggerRule
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, task

from spark_joinery.airflow.dags import joinery_refresh_dag
from spark_joinery.airflow.declared import declared
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator
from spark_joinery.airflow.operators.distribution import SkewDistributionOperator
from spark_joinery.airflow.operators.joinery import JoineryRefreshOperator
from spark_joinery.airflow.operators.range_index import RangeIndexOperator
from spark_joinery.airflow.sensors.freshness import ArtifactFreshnessSensor

PROJECT = os.environ.get("JOINERY_DBT_PROJECT_DIR", "/opt/airflow/dbt")
MANIFEST = f"{PROJECT}/target/manifest.json"

# [START howto_joinery_refresh_dag]
nightly = joinery_refresh_dag(
    MANIFEST,
    dag_id="example_joinery_refresh",
    schedule="0 3 * * *",
    build_models=lambda: BashOperator(task_id="dbt_build", bash_command="dbt build", cwd=PROJECT),
)
# [END howto_joinery_refresh_dag]

with DAG("example_joinery_each_relation", schedule=None, max_active_runs=1, tags=["joinery"]) as each_relation:
    # [START howto_operator_joinery_refresh]
    @task
    def sources() -> list[list[str]]:
        """The relations that dbt reads, a list for each task."""
        relations = {request.relation for request in declared(MANIFEST) if request.stage == "before_models"}
        return [[relation] for relation in sorted(relations)]

    refresh = JoineryRefreshOperator.partial(task_id="refresh", manifest=MANIFEST, max_active_tis_per_dag=1).expand(
        select=sources()
    )
    # [END howto_operator_joinery_refresh]

    # [START howto_sensor_artifact_freshness]
    fresh = ArtifactFreshnessSensor(
        task_id="fresh",
        manifest=MANIFEST,
        select=["flights"],
        max_age=timedelta(hours=26),
        timeout=60,
        # a source that does not exist yet has skipped its task
        trigger_rule=TriggerRule.NONE_FAILED,
    )
    # [END howto_sensor_artifact_freshness]
    refresh >> fresh

with DAG("example_joinery_by_hand", schedule=None, max_active_runs=1, max_active_tasks=1, tags=["joinery"]) as by_hand:
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

    # [START howto_operator_bloom_filter]
    BloomFilterOperator(
        task_id="planes_of_cessna",
        relation="raw.planes",
        keys=["tailnum"],
        where="manufacturer = 'CESSNA'",
    )
    # [END howto_operator_bloom_filter]

    # [START howto_operator_range_index]
    RangeIndexOperator(
        task_id="storms_by_time",
        relation="raw.storms",
        start="starts_at",
        end="ends_at",
        columns=["storm_id", "origin"],
    )
    # [END howto_operator_range_index]
