"""Distributions over many rows have exact hot keys, and ranks within the stated error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_joinery.jobs import refresh_artifact
from spark_joinery.store import open_store

from benchmarks.refresh import check_distribution, requests, write

ROOT = Path(__file__).resolve().parents[2]


def test_a_million_rows(spark: SparkSession, tmp_path: Path) -> None:
    source, rows = tmp_path / "source", 1_000_000
    write(spark, source, 0, rows, 4)
    store, request = open_store(spark, str(tmp_path / "store")), requests(source)["distribution"]
    result = refresh_artifact(spark, request, store, schema=None)
    assert (result.mode, result.rows, result.hot_keys) == ("full", rows, 1)
    check_distribution(spark, source, store, request)
    write(spark, source, rows, rows // 20, 1)
    result = refresh_artifact(spark, request, store, schema=None)
    assert (result.mode, result.rows) == ("incremental", rows + rows // 20)
    error, stated = check_distribution(spark, source, store, request)
    print(f"largest rank error {error:.5f}, stated {stated:.5f}")


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_hundred_million_rows() -> None:
    """Run the benchmark in a process with a small heap. It checks exact counts and ranks, and prints times."""
    script = "from benchmarks.refresh import run; from benchmarks.report import show; show(run(scale=2))"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, timeout=3500)
