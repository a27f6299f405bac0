"""dbt on Delta Lake and Iceberg runs incremental models that merge, and on Delta Lake snapshots with deletions.

Runs as `test_lakehouse.py` does: on Spark 4.1, in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark import SparkContext
from pyspark.sql import SparkSession
from spark_joinery import configure_spark
from support.answers import assert_same_rows
from support.dbt_project import Dbt, write_project

pytestmark = pytest.mark.lakehouse

THEIRS = "io.delta.sql.DeltaSparkSessionExtension,org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
LEGS, FIXES = "source('plain', 'legs')", "source('plain', 'fixes')"
MODELS = {
    "merged": f"""{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}}}
        {{{{ joinery.last_join(left={LEGS}, right={FIXES}, on=['k'], as_of={{'left': 'at', 'right': 'since'}},
            columns=['v'], lookback='2 days') }}}}""",
    "priced": """{{ joinery.last_join(left=source('plain', 'orders'), right=ref('prices'), on=['k'],
        as_of={'left': 'at'}, valid_from='dbt_valid_from', valid_to='dbt_valid_to',
        where="dbt_is_deleted = 'False'", columns=['price']) }}""",
}
SNAPSHOT = {
    "name": "prices",
    "relation": "source('plain', 'listed')",
    "config": {"unique_key": "k", "strategy": "timestamp", "updated_at": "changed_at", "hard_deletes": "new_record"},
}
# dbt-spark 1.11 writes NULL for a deleted row, even as its key. This macro makes it write values, like dbt-databricks.
COLUMNS_MACRO = """{% macro spark__get_columns_in_relation(relation) %}
  {{ return(adapter.get_columns_in_relation(relation)) }}
{% endmacro %}"""
TIME = "timestamp'2024-01-01' + make_dt_interval({})"
ORDERED = (TIME.format(1), TIME.format(5), "timestamp'2124-01-01'")


# The session's current catalog for each format, as `spark.sql.defaultCatalog` would set it: dbt-spark does not find its
# tables again in `catalog.schema`. dbt-spark's snapshots need a catalog with views, and Iceberg's has none.
CATALOGS = {"delta": "spark_catalog", "iceberg": "ice"}


@pytest.fixture(scope="module")
def lake(lake_settings: Callable[[], dict[str, str]]) -> Iterator[SparkSession]:
    """A session with Delta Lake, Iceberg and Joinery."""
    assert SparkContext._active_spark_context is None, "another session runs: these tests need a process of their own"
    settings = lake_settings() | {"spark.sql.extensions": THEIRS, "spark.sql.session.timeZone": "UTC"}
    spark = configure_spark(SparkSession.builder.master("local[2]").config(map=settings)).getOrCreate()
    for catalog in CATALOGS.values():
        spark.sql(f"CREATE SCHEMA {catalog}.plain")
    yield spark
    spark.stop()


def load(lake: SparkSession, file_format: str, day: int, price: int, changed: int, listed: int) -> None:
    """Create the sources as of a day, with rows of that day, late rows of the day before, and prices of the keys.

    The orders are before a change of price, after it, and far in the future, because dbt dates a deletion by the clock.
    """
    fresh = f"at < {TIME.format(day)} or (at < {TIME.format(day + 1)} and id % 3 <> 1)"
    for name, query in (
        ("legs", f"select * from (select id, id % 2 as k, {TIME.format('0, id')} as at from range(240)) where {fresh}"),
        ("fixes", f"select id % 2 as k, {TIME.format('0, id')} as since, id as v from range({day * 24})"),
        ("listed", f"select id as k, {price} + id as price, {TIME.format(changed)} as changed_at from range({listed})"),
        ("orders", f"select id as k, explode(array({', '.join(ORDERED)})) as at from range(3)"),
    ):
        lake.sql(f"drop table if exists plain.{name}")
        lake.sql(f"create table plain.{name} using {file_format} as {query}")


def project(folder: Path, schema: str, file_format: str) -> Dbt:
    """A project whose tables all have one format."""
    write_project(folder, **MODELS)
    (folder / "macros" / "columns.sql").write_text(COLUMNS_MACRO)
    models = {"joinery_tests": {"+materialized": "table", "+file_format": file_format}}
    of_all: dict[str, Any] = {"models": models, "snapshots": {"joinery_tests": {"+file_format": file_format}}}
    with (folder / "dbt_project.yml").open("a") as file:
        file.write(yaml.safe_dump(of_all))
    profiles = yaml.safe_load((folder / "profiles.yml").read_text())
    profiles["tests"]["outputs"]["tests"]["schema"] = schema
    (folder / "profiles.yml").write_text(yaml.safe_dump(profiles))
    tables = [{"name": name} for name in ("legs", "fixes", "listed", "orders")]
    properties = {"sources": [{"name": "plain", "schema": "plain", "tables": tables}], "snapshots": [SNAPSHOT]}
    (folder / "models" / "properties.yml").write_text(yaml.safe_dump(properties))
    dbt = Dbt(folder)
    assert dbt.invoke("deps").success, dbt.log
    return dbt


@pytest.mark.parametrize("mode", ["portable", "extension"])
@pytest.mark.parametrize("file_format", CATALOGS)
def test_merges_and_snapshots(
    lake: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_format: str, mode: str
) -> None:
    monkeypatch.chdir(tmp_path)  # dbt leaves logs where it runs
    lake.sql(f"use {CATALOGS[file_format]}")
    schema = f"{file_format}_{mode}"
    lake.sql(f"create schema {schema}")
    dbt = project(tmp_path, schema, file_format)
    build = ["build", "--vars", f"joinery_mode: {mode}"]
    if file_format == "iceberg":
        build += ["--select", "merged"]
    load(lake, file_format, 5, price=10, changed=0, listed=3)
    assert dbt.invoke(*build).success, dbt.log
    before = lake.table(f"{schema}.merged").count()
    load(lake, file_format, 6, price=20, changed=4, listed=2)
    assert dbt.invoke(*build).success, dbt.log
    assert any("merge into" in query and "merged" in query for query in dbt.queries), dbt.queries
    assert before < lake.table(f"{schema}.merged").count()
    latest = "select max_by(v, since) from plain.fixes f where f.k = l.k and f.since <= l.at"
    assert_same_rows(lake.table(f"{schema}.merged"), lake.sql(f"select *, ({latest}) as v from plain.legs l"))
    if file_format == "delta":
        assert lake.table(f"{schema}.prices").count() == 3 + 2 + 1  # first prices, new ones, and the deletion of a key
        of_deleted = "if(at < timestamp'2124-01-01', 12, null)"
        price = f"if(k = 2, {of_deleted}, if(at < {TIME.format(4)}, 10, 20) + k) as price"
        assert_same_rows(lake.table(f"{schema}.priced"), lake.sql(f"select *, {price} from plain.orders"))
