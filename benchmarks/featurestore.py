"""Training data from two feature views, as in Hopsworks' featurestore-benchmarks: a point-in-time join, into Parquet.

The labels are taxi trips. One view has features of the pick-up zone for each quarter of an hour, the other of the
drop-off zone for each half. Each trip gets the last features of both zones that were known when it began. The trips
are drawn from a fixed seed, with New York's number of zones and its yellow taxis' number of trips a day.

Source: github.com/featurestoreorg/featurestore-benchmarks, "offline". Published rates are read off its charts of 2023.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.common.cores import CORES
from benchmarks.common.data import START_US, made_once, timestamps, write
from benchmarks.common.spark import operators, register, session
from benchmarks.report import ROOT, Result

MILLIONS = (1, 2, 5, 10)
ZONES = 265
TRIPS_A_DAY = 100_000
DAY_US = 24 * 3600 * 1_000_000
QUARTER_US, HALF_US = DAY_US // 96, DAY_US // 48
ROUNDS = 3
OURS, PEER = "joinery", "Spark ASOF"
# Rows per second, and processors, of the offline benchmark with 10 M rows.
PUBLISHED = {
    "Hopsworks": (383_000, 16),
    "SageMaker": (83_000, 16),
    "Vertex": (48_000, 16),
    "Databricks": (17_000, 16),
}
FEATURES = "a.trips AS pickup_trips, a.mean_fare, b.trips AS dropoff_trips, b.weekend"
SQL = {
    OURS: f"SELECT t.*, {FEATURES} FROM trips t "
    "LAST JOIN pickups a ORDER BY a.ends_at ON t.pickup_zone = a.zone AND a.ends_at <= t.begins_at "
    "LAST JOIN dropoffs b ORDER BY b.ends_at ON t.dropoff_zone = b.zone AND b.ends_at <= t.begins_at",
    PEER: f"SELECT t.*, {FEATURES} FROM trips t "
    "LEFT ASOF JOIN pickups a MATCH_CONDITION (a.ends_at <= t.begins_at) ON t.pickup_zone = a.zone "
    "LEFT ASOF JOIN dropoffs b MATCH_CONDITION (b.ends_at <= t.begins_at) ON t.dropoff_zone = b.zone",
}


def tables(trips: int) -> dict[str, Path]:
    """The folders of the trips and the two views, made if need be.

    Args:
        trips: The number of trips.

    Returns:
        Folder by table: `trips (id BIGINT, pickup_zone INT, dropoff_zone INT, begins_at TIMESTAMP, fare DOUBLE)`,
        `pickups (zone INT, ends_at TIMESTAMP, trips BIGINT, mean_fare DOUBLE)` and
        `dropoffs (zone INT, ends_at TIMESTAMP, trips BIGINT, weekend BOOLEAN)`.
    """

    def make(folder: Path) -> None:
        random = np.random.default_rng(11)
        popular = 1 / (10.0 + np.arange(ZONES))
        zones = random.choice(ZONES, (2, trips), p=popular / popular.sum()).astype(np.int32)
        begins = random.integers(0, max(trips * DAY_US // TRIPS_A_DAY, DAY_US), trips)
        fare = random.integers(12, 400, trips) / 4
        columns = {"pickup_zone": zones[0], "dropoff_zone": zones[1], "begins_at": timestamps(START_US + begins)}
        write(folder / "trips", pa.table({"id": np.arange(trips), **columns, "fare": fare}))
        zone, window, number, mean = _by_window(zones[0], begins // QUARTER_US, fare)
        ends = timestamps(START_US + (window + 1) * QUARTER_US)
        write(folder / "pickups", pa.table({"zone": zone, "ends_at": ends, "trips": number, "mean_fare": mean}))
        zone, window, number, _ = _by_window(zones[1], begins // HALF_US, fare)
        ends = timestamps(START_US + (window + 1) * HALF_US)
        weekend = window // 48 % 7 >= 5
        write(folder / "dropoffs", pa.table({"zone": zone, "ends_at": ends, "trips": number, "weekend": weekend}))

    folder = made_once(f"featurestore-{trips}-v1", make)
    return {name: folder / name for name in ("trips", "pickups", "dropoffs")}


def _by_window(
    zone: np.ndarray, window: np.ndarray, fare: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Zone, window, number of trips and mean fare of each zone and window that has a trip."""
    windows = int(window.max()) + 1
    both, place, number = np.unique(zone.astype(np.int64) * windows + window, return_inverse=True, return_counts=True)
    mean = np.bincount(place, weights=fare) / number
    return (both // windows).astype(np.int32), both % windows, number, mean


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the trips.

    Returns:
        Rows per second by number of trips, next to the published rates; not met where answers differ.
    """
    rows, figures, wrong = [], {}, []
    for millions in MILLIONS:
        trips = int(millions * 1_000_000 * scale)
        done = {way: _in_a_process(way, trips) for way in SQL}
        figures[f"{millions} M"] = done
        if done[OURS]["digest"] != done[PEER]["digest"]:
            wrong.append(f"{millions} M trips: the answers differ")
        if "LastJoin" not in " ".join(done[OURS]["operators"]):
            wrong.append(f"{millions} M trips: no LAST JOIN ran")
        for way, figure in done.items():
            warm = statistics.median(figure["warm"])
            rate = trips / warm
            cells = [f"{figure['first']:.1f}", f"{warm:.1f}", f"{rate:,.0f}", f"{rate / CORES:,.0f}"]
            rows.append([f"{millions} M", way, *cells])
    for name, (rate, cores) in PUBLISHED.items():
        rows.append(["10 M", f"{name}, published", "", "", f"{rate:,}", f"{rate / cores:,.0f}"])
    return Result(
        case="featurestore",
        title="Training data from two feature views (featurestore-benchmarks, offline)",
        columns=["trips", "engine", "first run, s", "warm, s", "rows/s", "rows/s per core"],
        rows=rows,
        verdict="; ".join(wrong) or "Joinery and stock Spark write the same rows",
        met=not wrong,
        notes=[
            "A trip gets the last features of its pick-up zone and of its drop-off zone; the answer is written as "
            f"Parquet. Spark's defaults, {CORES} cores, 8 GB; each way in a JVM of its own, the first run and then the "
            f"median of {ROUNDS} more. Stock Spark runs without the jar.",
            "Published rates are those of featurestore-benchmarks, read off its charts of 2023. Its machines have 16 "
            "processors; it includes the start of a job on some of them.",
            "Count, NULLs and sums over every column of what was written are compared.",
        ],
        data=figures,
    )


def _in_a_process(way: str, trips: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.featurestore", way, str(trips)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"{way} of {trips:,} trips failed: {process.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return answer


def _serve(way: str, trips: int) -> None:
    """Print what a way did, as the last line."""
    spark = session(joinery=way == OURS)
    register(spark, tables(trips))
    with tempfile.TemporaryDirectory() as folder:
        target = f"{folder}/training"

        def timed() -> float:
            shutil.rmtree(target, ignore_errors=True)
            begun = time.perf_counter()
            spark.sql(SQL[way]).write.parquet(target)
            return time.perf_counter() - begun

        seconds = [timed() for _ in range(1 + ROUNDS)]
        written = spark.read.parquet(target)
        numbers = [name for name in written.columns if name not in ("begins_at", "weekend")]
        sums = [f"sum(CAST({name} AS DECIMAL(30, 6)))" for name in numbers]
        counts = [f"count({name})" for name in written.columns]
        times = ["sum(unix_micros(begins_at) % 1000003)", "count_if(weekend)"]
        digest = written.selectExpr("count(*)", *counts, *sums, *times).first()
        planned = spark.sql(SQL[way])
        planned.write.format("noop").mode("overwrite").save()
        found = operators(planned._jdf.queryExecution().executedPlan().toString())
    spark.stop()
    told = [str(value) for value in digest or ()]
    print(json.dumps({"first": seconds[0], "warm": seconds[1:], "digest": told, "operators": found}), flush=True)


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
