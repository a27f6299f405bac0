"""The nightly refresh: one task for each artifact that the dbt project declares under `meta.joinery`.

`make demo` runs it with `airflow dags test`; to schedule it, copy this file into Airflow's DAG folder and set
`JOINERY_MANIFEST` to the manifest.json of your dbt project.
"""

import os

from spark_joinery.airflow.dags import joinery_refresh_dag

dag = joinery_refresh_dag(manifest=os.environ["JOINERY_MANIFEST"])
