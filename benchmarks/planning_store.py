"""What `spark.joinery.store` costs while queries are planned: not set, an empty store, and one with a filter in use.

One JVM plans the ordinary queries over small Parquet tables in each mode in turn. All joins are shuffled and worth a
filter, so that nothing is spared by statistics.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.ordinary import QUERIES, TABLES
from benchmarks.report import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WARM_UP_ROUNDS = 6
ROUNDS = 15
UNSET, EMPTY, FILTER = "not set", "empty", "with a filter that is used"
BOUND = 1.05
SETTINGS = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
    "spark.joinery.store.timeout": "30s",
}
FILTER_SIGN = "joinery_might_contain"


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Of the data, of which there is next to none here.

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
    medians = {mode: statistics.median(column) for mode, column in times.items()}
    ratio = statistics.median(a / b for a, b in zip(times[EMPTY], times[UNSET], strict=True))
    return Result(
        case="planning_store",
        title=f"Planning time of {len(QUERIES)} ordinary queries with an artifact store",
        columns=["spark.joinery.store", "median, ms per 100 queries", "queries filtered"],
        rows=[[mode, f"{medians[mode] * 1000:.0f}", str(filtered[mode])] for mode in stores],
        verdict=f"median ratio {EMPTY} / {UNSET} {ratio:.3f}, at most {BOUND}; filters only where there are some",
        met=ratio <= BOUND and not filtered[UNSET] and not filtered[EMPTY] and filtered[FILTER] > 0,
        notes=[
            f"{ROUNDS} rounds in one JVM, modes in turn, {WARM_UP_ROUNDS} to warm up; from text to optimized plan.",
            "Tables and store on a local disk. No join is broadcast or too small, so that every join asks the store.",
        ],
    )


def _session(folder: Path) -> SparkSession:
    from pyspark.sql import SparkSession
    from spark_joinery import configure_spark

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
    builder = builder.config("spark.sql.catalogImplementation", "in-memory")
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse")).config(map={**SETTINGS})
    spark = configure_spark(builder).getOrCreate()
    for name, schema in TABLES.items():
        columns = [column.split() for column in schema.split(", ")]
        values = ", ".join(f"CAST(NULL AS {kind}) AS {column}" for column, kind in columns)
        spark.sql(f"CREATE TABLE {name} USING parquet AS SELECT {values}")
    return spark


def _refresh(spark: SparkSession, store: str) -> None:
    """Build the filter of planes by tail number, once its files are old enough to be covered."""
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
