"""Settings that pay on a given machine, and what the committed benchmarks measured that they bring."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"
PARTITIONS_PER_CORE = 4  # so that no core is idle for long while the last tasks of a stage run
WORTH_A_WORD = 2  # times the advised number: below that the difference is not worth a setting

BENCHMARK = "last_join_point_in_time"
_PACKAGE = Path(__file__).resolve().parent.parent
# The wheel carries a copy of the benchmark's figures; in a checkout the committed file is the only one.
_FIGURES = (_PACKAGE / "measured.json", _PACKAGE.parent.parent / "benchmarks" / "results" / f"{BENCHMARK}.json")


def advised_partitions(cores: int) -> int:
    """Say how many shuffle partitions suit a machine whose data fits them.

    Args:
        cores: That run tasks.

    Returns:
        A value for `spark.sql.shuffle.partitions`.

    Example:
        >>> advised_partitions(2)
        8
    """
    return PARTITIONS_PER_CORE * cores


def partitions_advice(spark: SparkSession) -> str | None:
    """Advise on the number of shuffle partitions of a local Spark, whose cores are known and do not change.

    Args:
        spark: A session.

    Returns:
        What to set and what it brings, or None where the setting is as good, or the cores are not this machine's.
    """
    if not hasattr(spark, "_jsc"):  # Spark Connect: the cores are the server's
        return None
    context = spark.sparkContext
    advised = advised_partitions(context.defaultParallelism)
    configured = int(str(spark.conf.get(PARTITIONS)))
    if not str(context.master).startswith("local") or configured < WORTH_A_WORD * advised:
        return None
    return (
        f"{PARTITIONS} is {configured} for {context.defaultParallelism} cores: {advised} suit them, as long as a "
        f"partition fits the memory of a task. {_measured()}"
    )


def measured_gain(figures: Path) -> float | None:
    """Read from a benchmark's committed figures what the advised partitions bring.

    Args:
        figures: A file of `benchmarks/results/` of a LAST JOIN or window case.

    Returns:
        Joinery's median at Spark's default divided by the one at the advised partitions; None where the file is not
        there or has no figure for the latter.
    """
    if not figures.is_file():
        return None
    (engines, *_) = json.loads(figures.read_text()).values()
    ours = engines["joinery"]
    return statistics.median(ours["seconds"]) / statistics.median(ours["tuned"]) if ours.get("tuned") else None


def _measured() -> str:
    page = f"benchmarks/results/{BENCHMARK}.md"
    gain = next(filter(None, map(measured_gain, _FIGURES)), None)
    if gain is None:
        return f"What that brings on two cores is measured by `make bench CASE={BENCHMARK}`, see {page}."
    return f"Measured on two cores: a LAST JOIN of 1 M rows takes 1 / {gain:.1f} of the time ({page})."
