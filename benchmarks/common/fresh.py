"""The first run of a query in a fresh JVM, as dbt runs it: `python -m benchmarks.common.fresh '<request as JSON>'`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.common.engines import Run
from benchmarks.report import ROOT


def first_run(
    sql: str, settings: Mapping[str, str], tables: Mapping[str, Path], joinery: bool, limit: float | None = None
) -> Run:
    """Run a query once in a new process.

    Args:
        sql: The query.
        settings: Settings of the query.
        tables: Folders of Parquet files, by the names that the query reads.
        joinery: Whether the session has the extension; stock Spark is measured without it.
        limit: Stop the query after this many seconds.

    Returns:
        The run. Its seconds are those of the query alone, because the session knows the tables before.

    Raises:
        RuntimeError: The process failed.
    """
    folders = {name: str(folder) for name, folder in tables.items()}
    request = {"sql": sql, "settings": dict(settings), "tables": folders, "joinery": joinery, "limit": limit}
    command = [sys.executable, "-m", "benchmarks.common.fresh", json.dumps(request)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"no first run of {sql}: {process.stderr[-2000:]}")
    return Run(**json.loads(process.stdout.splitlines()[-1]))


def _serve(request: dict[str, Any]) -> None:
    from benchmarks.common.spark import Spark, register, session

    spark = session(joinery=request["joinery"])
    register(spark, {name: Path(folder) for name, folder in request["tables"].items()})
    run = Spark(spark, request["sql"], request["settings"]).answer(request["limit"])
    print(json.dumps(asdict(run)))
    spark.stop()


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
