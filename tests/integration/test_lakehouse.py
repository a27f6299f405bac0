"""Joinery next to the extensions of Delta Lake and Iceberg, listed before ours and after.

They publish no jar for Spark 4.3 yet, so this runs on 4.1, in a process of its own (the first session's jars stay):

    .venv-spark-4.1/bin/python -m pytest -m lakehouse tests/integration/test_lakehouse.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from spark_joinery import configure_spark, last_join
from spark_joinery.jar import EXTENSION
from support.answers import assert_operator, assert_same_as_stock

pytestmark = pytest.mark.lakehouse

THEIRS = "io.delta.sql.DeltaSparkSessionExtension,org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
TABLES = {"delta": "spark_catalog.lake", "iceberg": "ice.lake"}


@pytest.fixture(scope="module", params=["ours last", "ours first"])
def lake(request: pytest.FixtureRequest, lake_settings: Callable[[], dict[str, str]]) -> Iterator[SparkSession]:
    assert SparkContext._active_spark_context is None, "another session runs: these tests need a process of their own"
    extensions = THEIRS if request.param == "ours last" else f"{EXTENSION},{THEIRS}"
    builder = SparkSession.builder.master("local[2]").config(map=lake_settings() | {"spark.sql.extensions": extensions})
    spark = configure_spark(builder).getOrCreate()
    order = spark.conf.get("spark.sql.extensions")
    assert order == (f"{THEIRS},{EXTENSION}" if request.param == "ours last" else f"{EXTENSION},{THEIRS}")
    for kind, schema in TABLES.items():
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        spark.sql(f"CREATE TABLE {schema}.flights (id INT, origin STRING, departs INT) USING {kind}")
        spark.sql(f"CREATE TABLE {schema}.weather (origin STRING, observed INT, wind DOUBLE) USING {kind}")
        spark.sql(f"INSERT INTO {schema}.flights VALUES (1, 'EWR', 10), (2, 'EWR', 20), (3, 'JFK', 5), (4, NULL, 1)")
        spark.sql(f"INSERT INTO {schema}.weather VALUES ('EWR', 10, 1.0), ('EWR', 15, 2.0), ('JFK', 7, 5.0)")
    yield spark
    spark.stop()


@pytest.fixture(params=TABLES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def last_weather(schema: str) -> str:
    return f"""
        SELECT f.id, w.wind FROM {schema}.flights f LAST JOIN {schema}.weather w ORDER BY w.observed
        ON f.origin = w.origin AND w.observed <= f.departs"""


def sorted_rows(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(map(tuple, frame.collect()), key=repr)


EXPECTED = [(1, 1.0), (2, 2.0), (3, None), (4, None)]


def test_query(lake: SparkSession, kind: str) -> None:
    oracle = f"""
        SELECT f.id, max_by(w.wind, w.observed) AS wind FROM {TABLES[kind]}.flights f LEFT JOIN {TABLES[kind]}.weather w
        ON f.origin = w.origin AND w.observed <= f.departs GROUP BY f.id"""
    assert_same_as_stock(lake, last_weather(TABLES[kind]), oracle, "BroadcastLastJoin")


def test_dataframes(lake: SparkSession, kind: str) -> None:
    flights, weather = lake.table(f"{TABLES[kind]}.flights"), lake.table(f"{TABLES[kind]}.weather")
    joined = last_join(flights, weather, on="origin", order_by="observed").select("id", "wind")
    assert sorted_rows(joined) == [(1, 2.0), (2, 2.0), (3, 5.0), (4, None)]
    assert_operator(joined, "BroadcastLastJoin")


def test_create_table_as_and_insert(lake: SparkSession, kind: str) -> None:
    made = f"{TABLES[kind]}.made"
    lake.sql(f"CREATE TABLE {made} USING {kind} AS {last_weather(TABLES[kind])}")
    assert sorted_rows(lake.table(made)) == EXPECTED
    lake.sql(f"INSERT OVERWRITE {made} {last_weather(TABLES[kind])}")
    assert sorted_rows(lake.table(made)) == EXPECTED
    lake.sql(f"DROP TABLE {made}")


def test_create_table_as_with_clustering_keys(lake: SparkSession) -> None:
    """Delta's parser takes CLUSTER BY out of the statement, and passes the rest to the next parser."""
    made = "spark_catalog.lake.clustered"
    lake.sql(f"CREATE TABLE {made} USING delta CLUSTER BY (id) AS {last_weather('spark_catalog.lake')}")
    assert sorted_rows(lake.table(made)) == EXPECTED
    detail = lake.sql(f"DESCRIBE DETAIL {made}").first()
    assert detail is not None
    assert detail.clusteringColumns == ["id"]
    lake.sql(f"DROP TABLE {made}")


def test_merge(lake: SparkSession, kind: str) -> None:
    target = f"{TABLES[kind]}.target"
    lake.sql(f"CREATE TABLE {target} (id INT, wind DOUBLE) USING {kind}")
    lake.sql(f"INSERT INTO {target} VALUES (1, 99.0), (7, 77.0)")
    lake.sql(f"""
        MERGE INTO {target} t USING ({last_weather(TABLES[kind])}) s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET wind = s.wind
        WHEN NOT MATCHED THEN INSERT (id, wind) VALUES (s.id, s.wind)""")
    assert sorted_rows(lake.table(target)) == [*EXPECTED, (7, 77.0)]
    lake.sql(f"DROP TABLE {target}")


def test_their_own_statements_still_work(lake: SparkSession) -> None:
    assert lake.sql("DESCRIBE HISTORY spark_catalog.lake.flights").count() >= 2
    lake.sql("ALTER TABLE ice.lake.flights ADD PARTITION FIELD origin")
    snapshots = lake.sql("SELECT count(*) AS n FROM ice.lake.flights.snapshots").first()
    assert snapshots is not None
    assert snapshots.n >= 1
