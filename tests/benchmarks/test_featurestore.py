"""The replica of featurestore-benchmarks returns the same rows as DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from benchmarks.common.spark import register
from benchmarks.featurestore import OURS, SQL, tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRIPS = 3000
DIGEST = "count(*), count(pickup_trips), sum(pickup_trips), sum(mean_fare), sum(dropoff_trips), count_if(weekend)"


def test_a_trip_gets_the_last_features_of_both_zones(spark: SparkSession) -> None:
    folders = tables(TRIPS)
    register(spark, folders)
    try:
        ours = spark.sql(f"SELECT {DIGEST} FROM ({SQL[OURS]})").first()
    finally:
        for view in folders:
            spark.catalog.dropTempView(view)
    for name, folder in folders.items():
        duckdb.sql(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM '{folder}/*.parquet'")
    joined = (
        "SELECT t.*, a.trips AS pickup_trips, a.mean_fare, b.trips AS dropoff_trips, b.weekend FROM trips t "
        "ASOF LEFT JOIN pickups a ON t.pickup_zone = a.zone AND a.ends_at <= t.begins_at "
        "ASOF LEFT JOIN dropoffs b ON t.dropoff_zone = b.zone AND b.ends_at <= t.begins_at"
    )
    (theirs,) = duckdb.sql(f"SELECT {DIGEST} FROM ({joined})").fetchall()
    assert [round(float(value), 6) for value in ours or ()] == [round(float(value), 6) for value in theirs]
    assert ours is not None
    assert ours[0] == TRIPS > ours[1] > TRIPS / 2
