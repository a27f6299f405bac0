"""Small tables that the examples of the documentation read, and a dbt project with the dbt examples as models."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from support.answers import settings
from support.dbt_project import Dbt, write_project
from support.documentation import blocks, pages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Airflow makes the root logger log more, so py4j would log its end to a stream that pytest has closed
logging.getLogger("py4j").setLevel(logging.WARNING)

# Airflow creates this folder when it is first imported
os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="joinery-airflow-"))

TABLES = {
    "flights": """
        SELECT id AS flight_id, if(id % 3 = 0, 'AA', 'UA') AS carrier, if(id % 2 = 0, 'JFK', 'LGA') AS origin,
          concat('N', id % 5) AS tailnum, TIMESTAMP '2013-01-01' + make_dt_interval(0, id) AS departs_at,
          CAST(id % 7 AS DOUBLE) AS dep_delay
        FROM range(30)""",
    "weather": """
        SELECT if(id % 2 = 0, 'JFK', 'LGA') AS origin,
          TIMESTAMP '2013-01-01' + make_dt_interval(0, id, 30) AS observed_at,
          CAST(id AS DOUBLE) AS temperature
        FROM range(20)""",
    "planes": """
        SELECT concat('N', id) AS tailnum, if(id % 2 = 0, 'CESSNA', 'BOEING') AS manufacturer, int(id % 7) + 2 AS seats
        FROM range(5)""",
    "storms": """
        SELECT 'JFK-1' AS storm_id, 'JFK' AS origin, TIMESTAMP '2013-01-01 03:00' AS starts_at,
          TIMESTAMP '2013-01-01 09:00' AS ends_at""",
}
DISTRIBUTIONS = {"distributions": [{"partition_by": ["carrier"], "order_by": "departs_at"}]}
SOURCES = {
    "sources": [{"name": "raw", "tables": [{"name": "flights", "config": {"meta": {"joinery": DISTRIBUTIONS}}}]}],
}


@pytest.fixture(scope="package")
def project(tmp_path_factory: pytest.TempPathFactory) -> Dbt:
    """A parsed dbt project with the tables as models, a declared source, and every dbt example."""
    folder = tmp_path_factory.mktemp("documented_project")
    examples = {f"example_{n}": block.text for n, block in enumerate(b for p in pages() for b in blocks(p, "jinja"))}
    write_project(folder, **TABLES, **examples)
    (folder / "models" / "sources.yml").write_text(yaml.safe_dump(SOURCES))
    dbt = Dbt(folder)
    assert dbt.invoke("deps").success, dbt.log
    parsed = dbt.invoke("parse")
    assert parsed.success, dbt.log
    dbt.manifest = parsed.result
    return dbt


@pytest.fixture(scope="package")
def source(spark: SparkSession) -> Iterator[None]:
    """Create the table raw.flights, and drop it and every schema of the examples at the end."""
    known = {row[0] for row in spark.sql("SHOW SCHEMAS").collect()}
    spark.sql("CREATE SCHEMA IF NOT EXISTS raw")
    spark.sql(TABLES["flights"]).coalesce(1).write.saveAsTable("raw.flights")
    yield
    spark.sql("DROP TABLE raw.flights")
    for row in spark.sql("SHOW SCHEMAS").collect():
        if row[0] not in known:
            spark.sql(f"DROP SCHEMA {row[0]} CASCADE")


@pytest.fixture
def session(
    spark: SparkSession, source: None, project: Dbt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SparkSession]:
    """The shared session with the tables as temporary views; the working directory is the dbt project."""
    monkeypatch.chdir(project.folder)
    monkeypatch.setenv("JOINERY_DBT_PROJECT_DIR", str(project.folder))
    for name, query in TABLES.items():
        spark.sql(query).createOrReplaceTempView(name)
    confs = {
        "spark.joinery.explain": "false",
        "spark.joinery.lastJoin.enabled": "true",
        "spark.joinery.store": str(tmp_path / "store"),
        "spark.sql.ansi.enabled": "true",
    }
    with settings(spark, confs):
        yield spark
    for name in TABLES:
        spark.catalog.dropTempView(name)
