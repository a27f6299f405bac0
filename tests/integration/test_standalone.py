"""The jobs as programs, submitted to a standalone cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from spark_joinery.jobs import bloom_filter
from support.servers import spark_program, standalone_cluster

pytestmark = pytest.mark.server


def manifest(folder: Path, joinery: dict[str, Any]) -> Path:
    """A manifest like dbt's for one source, with the fields that the jobs read."""
    node = {
        "resource_type": "source",
        "relation_name": f"parquet.`{folder}/source`",
        "config": {"meta": {"joinery": joinery}},
    }
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {},
        "sources": {"source.shop.raw.keys": node},
    }
    path = folder / "manifest.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.timeout(400)
def test_jobs_are_submitted(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1000).selectExpr("id k", "id ts").write.parquet(str(tmp_path / "source"))
    declared = manifest(tmp_path, {"bloom_filters": [{"keys": ["k"]}], "range_indexes": [{"point": "nope"}]})
    with standalone_cluster(tmp_path) as master:
        command = [spark_program("spark-submit"), "--master", master, "--executor-memory", "512m"]
        for key in ("spark.driver.host", "spark.driver.bindAddress"):
            command += ["--conf", f"{key}=127.0.0.1"]
        program = Path(str(bloom_filter.__file__))
        arguments = ["--manifest", str(declared), "--store", str(tmp_path / "store"), "--schema", "default"]
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

        def submit(path: Path) -> tuple[int, list[dict[str, Any]]]:
            run = subprocess.run(
                [*command, str(path), *arguments],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            results = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
            assert results, run.stderr[-4000:]
            return run.returncode, results

        code, (result,) = submit(program)
        assert (code, result["kind"], result["status"], result["rows"]) == (0, "bloom_filter", "refreshed", 1000)
        code, (result,) = submit(program.with_name("range_index.py"))
        assert (code, result["status"]) == (1, "failed")
        assert "has no column 'nope'" in result["reason"]
