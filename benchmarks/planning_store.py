"""The cost of `spark.joinery.store` in planning: not set, an empty store, and a store with a filter in use.

One JVM plans the ordinary queries over small Parquet tables in each mode in turn. All joins are shuffled and worth a
filter, so statistics rule out none. `python -m benchmarks.planning_store FOLDER STORE` plans them once.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.ordinary import QUERIES, TABLES
from benchmarks.report import ROOT, Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WARM_UP_ROUNDS = 6
ROUNDS = 15
UNSET, EMPTY, FILTER = "not set", "empty", "with a filter that is used"
BOUND = 1.05
SETTINGS = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
    "spark.joinery.runtimeFilter.build.enabled": "false",
    "spark.joinery.store.timeout": "30s",
}
FILTER_SIGN = "joinery_might_contain"


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Has no effect, because tables have one row each.

    Returns:
        Milliseconds per 100 queries in each mode.
    """
    with tempfile.TemporaryDirectory() as folder:
        spark = _session(Path(folder))
        try:
            stores = {UNSET: "", EMPTY: f"{folder}/empty", FILTER: f"{folder}/store"}
            _refresh(spark, stores[FILTER])
            times: dict[str, list[float]] = {mode: [] for mode in stores}
            filtered: dict[str, int] = {}
            for i in range(WARM_UP_ROUNDS + ROUNDS):
                for mode, store in stores.items():
                    spark.conf.set("spark.joinery.store", store)
                    seconds, filtered[mode] = _plan_all(spark)
                    if i >= WARM_UP_ROUNDS:
                        times[mode].append(seconds)
        finally:
            spark.stop()
        runs = {mode: _first_run(folder, store) for mode, store in stores.items()}
    first = {mode: seconds for mode, (seconds, _) in runs.items()}, {mode: count for mode, (_, count) in runs.items()}
    medians = {mode: statistics.median(column) for mode, column in times.items()}
    ratio = statistics.median(a / b for a, b in zip(times[EMPTY], times[UNSET], strict=True))
    return Result(
        case="planning_store",
        title=f"Planning time of {len(QUERIES)} ordinary queries with an artifact store",
        columns=["", "spark.joinery.store", "median, ms per 100 queries", "queries filtered"],
        rows=_rows("warm", medians, filtered) + _rows("first run in a fresh JVM", *first),
        verdict=f"median ratio {EMPTY} / {UNSET} {ratio:.3f}, at most {BOUND}; filters only where there are some",
        met=ratio <= BOUND and not filtered[UNSET] and not filtered[EMPTY] and filtered[FILTER] > 0,
        notes=[
            f"{ROUNDS} rounds in one JVM, modes in turn, {WARM_UP_ROUNDS} to warm up; from text to optimized plan.",
            "First run: a new process for each mode plans the queries once.",
            "Tables and store on a local disk. No join is broadcast or too small, so that every join asks the store.",
        ],
    )


def _rows(title: str, seconds: dict[str, float], filtered: dict[str, int]) -> list[list[str]]:
    """A row for each mode, with the title in the first row."""
    return [
        [title if mode == UNSET else "", mode, f"{seconds[mode] * 1000:.0f}", str(filtered[mode])] for mode in seconds
    ]


def _first_run(folder: str, store: str) -> tuple[float, int]:
    """Plan the queries over the same tables in a new process; see `_plan_all`."""
    command = [sys.executable, "-m", "benchmarks.planning_store", folder, store]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"no first run with the store {store or UNSET}: {process.stderr[-2000:]}")
    seconds, filtered = process.stdout.splitlines()[-1].split()
    return float(seconds), int(filtered)


def _serve(folder: str, store: str) -> None:
    spark = _session(Path(folder))
    spark.conf.set("spark.joinery.store", store)
    print(*_plan_all(spark))
    spark.stop()


def _session(folder: Path) -> SparkSession:
    """A session with the tables of the ordinary queries, made below the folder unless they are there already."""
    from pyspark.sql import SparkSession
    from spark_joinery import configure_spark

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
    builder = builder.config("spark.sql.catalogImplementation", "in-memory")
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse")).config(map={**SETTINGS})
    spark = configure_spark(builder).getOrCreate()
    for name, schema in TABLES.items():
        files = folder / "warehouse" / name
        if files.exists():
            spark.sql(f"CREATE TABLE {name} ({schema}) USING parquet LOCATION '{files}'")
            continue
        columns = [column.split() for column in schema.split(", ")]
        values = ", ".join(f"CAST(NULL AS {kind}) AS {column}" for column, kind in columns)
        spark.sql(f"CREATE TABLE {name} USING parquet AS SELECT {values}")
    return spark


def _refresh(spark: SparkSession, store: str) -> None:
    """Build the filter of planes by tail number, when the files are old enough to be covered."""
    from spark_joinery.jobs import refresh_artifact
    from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec
    from spark_joinery.store import open_store

    time.sleep(2.5)
    request = ArtifactRequest.of_table("default.planes", BloomFilterSpec(keys=["tailnum"]))
    refresh_artifact(spark, request, open_store(spark, store))


def _plan_all(spark: SparkSession) -> tuple[float, int]:
    """Seconds to plan every query once, and how many are filtered."""
    start = time.perf_counter()
    plans = [spark.sql(query)._jdf.queryExecution().optimizedPlan() for query in QUERIES]
    seconds = time.perf_counter() - start
    return seconds, sum(FILTER_SIGN in plan.toString() for plan in plans)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
