"""Real Airflow on an embedded SQLite, in a directory of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

# Airflow reads its environment when it is first imported, so this happens before any test module is
_HOME = tempfile.TemporaryDirectory(prefix="joinery-airflow-")
os.environ.update(
    AIRFLOW_HOME=_HOME.name,
    AIRFLOW__CORE__LOAD_EXAMPLES="False",
    AIRFLOW__CORE__DAGS_FOLDER=str(Path(_HOME.name) / "dags"),
    AIRFLOW__LOGGING__LOGGING_LEVEL="INFO",
    # cosmos reports its use to its makers otherwise
    AIRFLOW__COSMOS__ENABLE_TELEMETRY="False",
)

BY_CARRIER = {"partition_by": ["carrier"], "order_by": "departs_at", "hot": {"min_rows": 50}}

SOURCES: dict[str, Any] = {
    "sources": [
        {
            "name": "raw",
            "tables": [
                {
                    "name": "flights",
                    "config": {
                        "meta": {
                            "joinery": {
                                "distributions": [BY_CARRIER],
                                "bloom_filters": [{"keys": ["carrier"], "where": "carrier NOT LIKE '{{ '{%' }}'"}],
                            },
                        },
                    },
                },
                {"name": "not_loaded_yet", "config": {"meta": {"joinery": {"distributions": [BY_CARRIER]}}}},
            ],
        }
    ],
    "models": [
        {
            "name": "busy",
            "config": {
                "materialized": "table",
                "meta": {
                    "joinery": {
                        "distributions": [BY_CARRIER],
                        "range_indexes": [{"point": "departs_at", "columns": ["carrier"]}],
                    }
                },
            },
        }
    ],
}


@pytest.fixture(scope="session")
def airflow_home() -> Path:
    """AIRFLOW_HOME with a migrated database and an empty `dags` folder."""
    home = Path(os.environ["AIRFLOW_HOME"])
    (home / "dags").mkdir()
    airflow("db", "migrate")
    return home


def airflow(*arguments: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Airflow's command line."""
    done = subprocess.run(
        [sys.executable, "-m", "airflow", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="session")
def lakehouse(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Directories of an embedded Spark: metastore, warehouse, artifact store."""
    root = tmp_path_factory.mktemp("lakehouse")
    return {name: str(root / name) for name in ("metastore_db", "warehouse", "store", "reports")}


@pytest.fixture(scope="session")
def small_spark() -> dict[str, str]:
    """Confs of a Spark that starts quickly: half of these tests' time goes into starting JVMs."""
    return {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC",
    }


@pytest.fixture(scope="session")
def dbt_project(
    tmp_path_factory: pytest.TempPathFactory, lakehouse: dict[str, str], small_spark: dict[str, str]
) -> Path:
    """A dbt project on that Spark, parsed by real dbt."""
    root = tmp_path_factory.mktemp("dbt")
    spark = small_spark | {
        "spark.master": "local[2]",
        "spark.sql.warehouse.dir": lakehouse["warehouse"],
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={lakehouse['metastore_db']};create=true"
        ),
        "spark.sql.catalogImplementation": "hive",
    }
    target = {"type": "spark", "method": "session", "host": "NA", "schema": "marts", "server_side_parameters": spark}
    project = {"name": "shop", "version": "1.0", "config-version": 2, "profile": "shop"}
    (root / "dbt_project.yml").write_text(yaml.safe_dump(project))
    (root / "profiles.yml").write_text(yaml.safe_dump({"shop": {"target": "dev", "outputs": {"dev": target}}}))
    (root / "models").mkdir()
    (root / "models" / "sources.yml").write_text(yaml.safe_dump(SOURCES))
    (root / "models" / "busy.sql").write_text("select * from {{ source('raw', 'flights') }} where carrier <> 'ZZ'")
    subprocess.run([*dbt_command(root, "parse")], check=True, capture_output=True, timeout=120)
    return root


def dbt_command(project: Path, command: str) -> list[str]:
    """The command line that runs a dbt command with the dbt of this environment."""
    folders = ["--project-dir", str(project), "--profiles-dir", str(project)]
    code = "import sys; from dbt.cli.main import cli; cli(sys.argv[1:])"
    return [sys.executable, "-c", code, command, *folders, "--no-send-anonymous-usage-stats", "--quiet"]


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A manifest with a source and a model."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "home"))
    meta = {"meta": {"joinery": {"bloom_filters": [{"keys": ["k"]}], "range_indexes": [{"point": "t"}]}}}
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {
            "model.shop.busy": {
                "resource_type": "model",
                "relation_name": "marts.busy",
                "config": {"materialized": "table", **meta},
            }
        },
        "sources": {"source.shop.raw.t": {"resource_type": "source", "relation_name": "raw.t", "config": meta}},
    }
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(document))
    return path
