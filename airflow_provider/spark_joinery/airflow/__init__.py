"""Airflow provider: the connection type `joinery`, operators, a sensor, and the nightly DAG made from a manifest."""

from __future__ import annotations

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """Describe this provider; Airflow's provider manager calls it by the entry point `apache_airflow_provider`.

    Returns:
        A dictionary as `airflow/provider_info.schema.json` describes it.
    """
    return {
        "package-name": "spark-joinery",
        "name": "Joinery",
        "description": (
            "Nightly precomputation for the Joinery Spark extension: skew distributions, bloom filters, range indexes."
        ),
        "integrations": [{"integration-name": "Joinery", "tags": ["software"]}],
        "hooks": [{"integration-name": "Joinery", "python-modules": ["spark_joinery.airflow.hooks.joinery"]}],
        "operators": [
            {
                "integration-name": "Joinery",
                "python-modules": [
                    "spark_joinery.airflow.operators.bloom_filter",
                    "spark_joinery.airflow.operators.distribution",
                    "spark_joinery.airflow.operators.joinery",
                    "spark_joinery.airflow.operators.range_index",
                ],
            }
        ],
        "sensors": [{"integration-name": "Joinery", "python-modules": ["spark_joinery.airflow.sensors.freshness"]}],
        "triggers": [
            {
                "integration-name": "Joinery",
                "python-modules": [
                    "spark_joinery.airflow.triggers.freshness",
                    "spark_joinery.airflow.triggers.refresh",
                ],
            }
        ],
        "extra-links": [
            "spark_joinery.airflow.links.DriverLogLink",
            "spark_joinery.airflow.links.SkewReportLink",
            "spark_joinery.airflow.links.SparkUILink",
        ],
        "connection-types": [
            {
                "connection-type": "joinery",
                "hook-name": "Joinery (Spark)",
                "hook-class-name": "spark_joinery.airflow.hooks.joinery.JoineryHook",
                "ui-field-behaviour": {
                    "hidden-fields": ["port", "login", "password"],
                    "relabeling": {"host": "Spark master", "schema": "Schema for distributions"},
                    "placeholders": {"host": "local[2]", "schema": "joinery", "deploy_mode": "client"},
                },
                "conn-fields": _CONNECTION_FIELDS,
            }
        ],
    }


_CONNECTION_FIELDS: dict[str, Any] = {
    "store": {
        "label": "Artifact store",
        "description": "Directory on any Hadoop file system, the same as spark.joinery.store of the queries",
        "schema": {"type": ["string", "null"]},
    },
    "metastore_dir": {
        "label": "Derby metastore",
        "description": "Absolute directory of an embedded metastore; empty where Spark has a Hive metastore server",
        "schema": {"type": ["string", "null"]},
    },
    "warehouse_dir": {
        "label": "Warehouse",
        "description": "Absolute path or URI of spark.sql.warehouse.dir",
        "schema": {"type": ["string", "null"]},
    },
    "conf": {
        "label": "Spark configuration",
        "description": 'Further Spark confs as JSON: {"spark.driver.memory": "2g"}',
        "schema": {"type": ["object", "null"], "format": "json"},
    },
    "spark_conn_id": {
        "label": "Spark connection",
        "description": "Id of a connection of type spark or spark_connect: its master, deploy mode and program",
        "schema": {"type": ["string", "null"]},
    },
    "deploy_mode": {
        "label": "Deploy mode",
        "description": "client: the driver runs on the worker; cluster: in the cluster (yarn and k8s:// only)",
        "schema": {"type": ["string", "null"], "enum": ["client", "cluster", None]},
    },
    "spark_submit": {
        "label": "Program spark-submit",
        "description": "Path; empty: that of SPARK_HOME, of the installed pyspark, of the PATH",
        "schema": {"type": ["string", "null"]},
    },
    "run_dir": {
        "label": "Directory for runs",
        "description": "Absolute path, shared by workers, drivers, triggerers; to defer, or for drivers in clusters",
        "schema": {"type": ["string", "null"]},
    },
    "report_dir": {
        "label": "Directory for reports",
        "description": "Path or URI; tasks leave their skew report there, and link to it",
        "schema": {"type": ["string", "null"]},
    },
    "report_url": {
        "label": "Address of reports",
        "description": "Under which browsers find that directory: https://reports.example.org/joinery",
        "schema": {"type": ["string", "null"]},
    },
    "report_values": {
        "label": "Values in reports",
        "description": "Show keys and other values of the sources there, and keep the driver's log",
        "schema": {"type": ["boolean", "null"]},
    },
}
