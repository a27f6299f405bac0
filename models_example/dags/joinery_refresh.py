"""The nightly refresh of all artifacts that the dbt project declares under `meta.joinery`.

The DAG refreshes sources, lets dbt build its models, then refreshes the models. `make demo` runs it with
`airflow dags test`. To schedule it, copy this file into Airflow's DAG folder. Set `JOINERY_MANIFEST` to the
manifest.json of your dbt project and `JOINERY_DBT_BUILD` to the command that builds its models.
"""

import os

from airflow.providers.standard.operators.bash import BashOperator
from spark_joinery.airflow.dags import joinery_refresh_dag

dag = joinery_refresh_dag(
    manifest=os.environ["JOINERY_MANIFEST"],
    build_models=lambda: BashOperator(
        task_id="dbt_build", bash_command=os.environ.get("JOINERY_DBT_BUILD", "dbt build"), do_xcom_push=False
    ),
)
