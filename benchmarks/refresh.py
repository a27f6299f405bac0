"""Refreshes of the three artifacts: full ones next to a plain query, and incremental ones next to full ones.

There are 50 M rows in 100 files: 30 % with one key, 6 % with six others, the rest with a million. Spark has 2 GB.
`python -m benchmarks.refresh FOLDER JOB` runs one job once, full, over the rows in a folder.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.report import ROOT, Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from spark_joinery.metadata import ArtifactRequest
    from spark_joinery.store import ArtifactStore

ROWS = 50_000_000
FILES = 100
ROUNDS = {"plain": 2, "distribution": 1, "bloom_filter": 1, "range_index": 1}
INCREMENTS = 3
HEAP = "2g"
AT_MOST = 2.0
AT_LEAST = 10.0
PLAIN = "scan + group-by count"
_KEY = """CASE WHEN id % 10 < 3 THEN 0 WHEN id % 100 IN (33, 43, 53, 63, 73, 83) THEN id % 100
               ELSE 1000 + abs(xxhash64(id)) % 1000000 END"""


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the 50 M rows. `make soak` takes twice as many.

    Returns:
        Seconds of the plain query, and of each kind of refresh.

    Raises:
        AssertionError: If a hot key is missing or miscounted, or a boundary is off by more than the error it states.
    """
    from spark_joinery.store import open_store
    from spark_joinery.store.fingerprint import SETTLE_MS

    spark = _session()
    rows = max(FILES, int(ROWS * scale))
    rounds = ROUNDS if scale == 1 else dict.fromkeys(ROUNDS, 1)
    with tempfile.TemporaryDirectory(prefix="joinery-bench-") as folder:
        source = Path(folder, "source")
        per_file = rows // FILES
        write(spark, source, 0, rows, FILES)
        store = open_store(spark, f"{folder}/store")
        artifacts = requests(source)

        figures: dict[str, Any] = {}
        worst = []
        for kind, request in artifacts.items():
            full_s = _median(lambda r=request: _refresh(spark, r, store, "full"), rounds[kind])  # type: ignore[misc]
            figures[kind] = {"full": full_s}
        # the plain query runs last, in a warm JVM, which is to its advantage
        plain_s = _median(lambda: _plain(spark, source), rounds["plain"])
        first = {job: _first_run(folder, job) for job in (PLAIN, *artifacts)}
        table = [[PLAIN, f"{plain_s:.1f}", f"{first[PLAIN]:.1f}", "-", "-", "-"]]
        for round_ in range(INCREMENTS if scale == 1 else 1):
            write(spark, source, rows + round_ * per_file, per_file, 1)
            time.sleep(SETTLE_MS / 1000)  # otherwise the first refresh would wait for the file to settle
            for kind, request in artifacts.items():
                seconds = _timed(lambda r=request: _refresh(spark, r, store, "incremental"))  # type: ignore[misc]
                figures[kind].setdefault("incremental_rounds", []).append(seconds)
        for kind, request in artifacts.items():
            of = figures[kind]
            of["incremental"] = statistics.median(of.pop("incremental_rounds"))
            of["unchanged"] = _median(lambda r=request: _refresh(spark, r, store, None), INCREMENTS)  # type: ignore[misc]
            gain = of["full"] / of["incremental"]
            worst.append(gain)
            table.append(
                [
                    *(kind, f"{of['full']:.1f}", f"{first[kind]:.1f}"),
                    *(f"{of['incremental']:.1f}", f"{gain:.1f}", f"{of['unchanged']:.2f}"),
                ]
            )
        error, stated = check_distribution(spark, source, store, artifacts["distribution"])
        spark.stop()
    ratio = figures["distribution"]["full"] / plain_s
    return Result(
        case="refresh",
        title=f"Refreshes over {rows:,} rows, seconds",
        columns=["job", "full", "full, first run in a fresh JVM", "1 % new files", "full / 1 % new", "nothing new"],
        rows=table,
        verdict=(
            f"distribution / plain query {ratio:.2f}, at most {AT_MOST}; full / incremental at least {min(worst):.1f}, "
            f"at least {AT_LEAST}; largest rank error {error:.5f}, stated {stated:.5f}"
        ),
        met=ratio <= AT_MOST and min(worst) >= AT_LEAST,
        notes=[
            f"local[2], driver memory {HEAP}; medians of {rounds} rounds, {INCREMENTS} of each other column.",
            "At Spark's defaults. First run: once, in a new process, the session up before.",
            "Checked in the same run, after all increments: hot keys and counts are those of an exact GROUP BY, and "
            "every boundary's exact rank is within the stated error.",
        ],
        data={
            "rows": rows,
            "plain": plain_s,
            "jobs": figures,
            "first": first,
            "rank_error": error,
            "stated_rank_error": stated,
        },
    )


def write(spark: SparkSession, folder: Path, start: int, rows: int, files: int) -> None:
    """Append rows to the source.

    Args:
        spark: A session.
        folder: The source.
        start: The number of the first row.
        rows: The number of rows.
        files: The number of files.
    """
    frame = spark.range(start, start + rows, 1, files)
    frame.selectExpr(
        f"{_KEY} AS k", "timestamp_micros(abs(xxhash64(id, 1)) % 1000000000000) AS ts", "id AS v"
    ).write.mode("append").parquet(str(folder))


def check_distribution(
    spark: SparkSession, source: Path, store: ArtifactStore, request: ArtifactRequest
) -> tuple[float, float]:
    """Compare a distribution with exact counts and ranks.

    Args:
        spark: A session.
        source: The rows from which it was built.
        store: The store that has it.
        request: The request for it.

    Returns:
        The largest error of a rank, as a share of the key's rows, and the error that the artifact states.

    Raises:
        AssertionError: If a hot key is missing or miscounted, or a boundary is off by more than the stated error.
    """
    version = store.current(request.kind, request.relation, request.spec_hash).version
    assert version is not None
    hot = {row["k"]: row for row in spark.read.parquet(version.data_path).where("is_hot").collect()}
    rows = spark.read.parquet(str(source))
    exact = rows.groupBy("k").count().where(f"count >= {version.description['hot_from']}").collect()
    assert {row["k"]: row["count"] for row in exact} == {key: row["row_count"] for key, row in hot.items()}
    worst, stated = 0.0, float(version.description["rank_error"])
    for key, row in hot.items():
        boundaries = row["quantiles"]
        below = [f"count_if(ts <= TIMESTAMP'{boundary}')" for boundary in boundaries]
        (found,) = rows.where(f"k = {key}").selectExpr(*below).collect()
        errors = [abs(rank / row["row_count"] - (i + 1) / (len(boundaries) + 1)) for i, rank in enumerate(found)]
        worst = max(worst, *errors)
    assert worst <= stated, (worst, stated)
    return worst, stated


def requests(source: Path) -> dict[str, ArtifactRequest]:
    """One artifact of each kind, by kind."""
    from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, RangeIndexSpec, Spec

    specs: list[Spec] = [
        DistributionSpec(partition_by=["k"], order_by="ts", quantiles=8),
        BloomFilterSpec(keys=["k"]),
        RangeIndexSpec(point="ts", columns=["k"]),
    ]
    return {r.kind: r for r in (ArtifactRequest.of_table(f"parquet.`{source}`", spec) for spec in specs)}


def _refresh(spark: SparkSession, request: ArtifactRequest, store: ArtifactStore, mode: str | None) -> None:
    from spark_joinery.jobs import refresh_artifact

    result = refresh_artifact(spark, request, store, schema=None, full_refresh=mode == "full")
    assert result.mode == mode, result


def _plain(spark: SparkSession, source: Path) -> None:
    counted = spark.read.parquet(str(source)).groupBy("k").count()
    counted.agg({"count": "max", "k": "count"}).collect()


def _first_run(folder: str, job: str) -> float:
    """Seconds of a full run of a job in a new process. Its artifact goes to a separate store."""
    command = [sys.executable, "-m", "benchmarks.refresh", folder, job]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"no first run of {job}: {process.stderr[-2000:]}")
    return float(process.stdout.splitlines()[-1])


def _serve(folder: str, job: str) -> None:
    from spark_joinery.store import open_store

    spark = _session()
    source = Path(folder, "source")
    if job == PLAIN:
        print(_timed(lambda: _plain(spark, source)))
    else:
        store = open_store(spark, f"{folder}/first_runs")
        print(_timed(lambda: _refresh(spark, requests(source)[job], store, "full")))
    spark.stop()


def _timed(body: Callable[[], Any]) -> float:
    started = time.perf_counter()
    body()
    return time.perf_counter() - started


def _median(body: Callable[[], Any], rounds: int) -> float:
    return statistics.median(_timed(body) for _ in range(rounds))


def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {
        "spark.driver.memory": HEAP,
        "spark.log.level": "ERROR",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    return SparkSession.builder.master("local[2]").appName("joinery-bench").config(map=settings).getOrCreate()


if __name__ == "__main__":
    _serve(*sys.argv[1:])
