"""Settings that pay on a given machine, and what the committed benchmarks measured that they bring."""

from __future__ import annotations

import json
import os
import re
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
        cores: Number of tasks that run at once.

    Returns:
        A value for `spark.sql.shuffle.partitions`.

    Example:
        >>> advised_partitions(2)
        8
    """
    return PARTITIONS_PER_CORE * cores


def partitions_advice(configured: int, cores: int | None) -> str | None:
    """Advise on the number of shuffle partitions of a local Spark, whose cores are known and do not change.

    Args:
        configured: The session's `spark.sql.shuffle.partitions`.
        cores: The session's, or None where they are not known.

    Returns:
        A better value and its gain, or None where the setting is as good, or the cores are not known.
    """
    if cores is None or configured < WORTH_A_WORD * advised_partitions(cores):
        return None
    return (
        f"{PARTITIONS} is {configured} for {cores} cores: {advised_partitions(cores)} suit them, as long as a "
        f"partition fits the memory of a task. {_measured()}"
    )


def local_cores(spark: SparkSession) -> int | None:
    """Count the cores of a session whose tasks run on this machine.

    Args:
        spark: A session.

    Returns:
        The number, or None for a cluster.
    """
    if not hasattr(spark, "_jsc"):  # Spark Connect: the cores are the server's
        return None
    context = spark.sparkContext
    return context.defaultParallelism if cores_of_master(str(context.master)) else None


def cores_of_master(master: str) -> int | None:
    """Count the cores that a local master names.

    Args:
        master: A value of `spark.master`.

    Returns:
        The number, or None for a cluster.

    Example:
        >>> cores_of_master("local[2]")
        2
    """
    local = re.fullmatch(r"local(?:\[(\d+|\*)(?:,.*)?\])?", master)
    if local is None:
        return None
    return os.cpu_count() if local[1] == "*" else int(local[1] or 1)


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
