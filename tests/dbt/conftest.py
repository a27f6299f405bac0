"""The dbt project of these tests, on the shared Spark session."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.answers import settings
from support.dbt_project import SCHEMA, Dbt, write_project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.ansi.enabled": "false",  # as dbt-spark sets it
    # there are a hundred queries over a hundred rows: compiling them would take longer than running them
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="package")
def dbt(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Dbt]:
    """The parsed project, with its schema created and the session's settings in place."""
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


@pytest.fixture(scope="package")
def last_join_sides(spark: SparkSession, dbt: Dbt) -> None:
    """Left rows (every third twice), right rows, and an empty table of each kind."""
    pick = random.Random(20261)

    def maybe(value: Any) -> Any:
        return None if pick.random() < 0.1 else value

    left = [(maybe(pick.randint(1, 5)), maybe(pick.choice("xy")), maybe(pick.randint(0, 30))) for _ in range(60)]
    left += left[::3]
    right = [
        (
            maybe(pick.randint(1, 5)),
            maybe(pick.choice("xy")),
            maybe(pick.randint(0, 30)),
            version,
            maybe("s"),
            maybe(pick.randint(0, 3)),
        )
        for version in pick.sample(range(90), 90)
    ]
    right += [(1, "x", 5, 100, None, None), (2, None, None, 101, None, None)]
    left_schema = "`a b` int, city string, ts int"
    right_schema = "`a b` int, town string, ts int, version int, `select` string, `we``ird` int"
    for suffix, lefts, rights in (("", left, right), ("_empty", [], [])):
        numbered = [(n, *row) for n, row in enumerate(lefts)]
        spark.createDataFrame(numbered, f"n int, {left_schema}").write.saveAsTable(f"{SCHEMA}.numbered{suffix}")
        spark.createDataFrame(lefts, left_schema).write.saveAsTable(f"{SCHEMA}.left{suffix}")
        spark.createDataFrame(rights, right_schema).write.saveAsTable(f"{SCHEMA}.right{suffix}")
