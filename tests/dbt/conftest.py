"""The dbt project of these tests, on the shared Spark session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.answers import settings
from support.dbt_project import SCHEMA, Dbt, write_project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.ansi.enabled": "false",  # as dbt-spark sets it
    # a hundred queries over a hundred rows: compiling them would take longer than running them
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="package")
def dbt(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Dbt]:
    """The parsed project, its schema, and the session set for it."""
    folder = tmp_path_factory.mktemp("dbt_project")
    write_project(folder)
    project = Dbt(folder)
    here = Path.cwd()
    os.chdir(folder)  # dbt leaves logs where it runs
    with settings(spark, SETTINGS):
        spark.sql(f"create schema if not exists {SCHEMA}")
        assert project.invoke("deps").success, project.log
        parsed = project.invoke("parse")
        assert parsed.success, project.log
        project.manifest = parsed.result
        yield project
        spark.sql(f"drop schema {SCHEMA} cascade")
    os.chdir(here)
