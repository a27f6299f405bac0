"""LAST JOIN in Spark Declarative Pipelines, which start Spark with their own command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pyspark
import pytest
from spark_joinery import jar_path
from spark_joinery.jar import EXTENSION

pytestmark = pytest.mark.server

SPEC = """name: prices
storage: file://{folder}/storage
libraries: [{{glob: {{include: "transformations/**"}}}}]
"""
LATEST = """CREATE MATERIALIZED VIEW latest AS
SELECT a.id, b.id AS found FROM range(9) a LAST JOIN range(5) b ORDER BY b.id ON b.id <= a.id"""


def test_pipeline_with_a_last_join_writes_its_rows(tmp_path: Path) -> None:
    (tmp_path / "spark-pipeline.yml").write_text(SPEC.format(folder=tmp_path))
    (tmp_path / "transformations").mkdir()
    (tmp_path / "transformations" / "latest.sql").write_text(LATEST)
    home = Path(pyspark.__file__).parent
    command = [str(home / "bin/spark-pipelines"), "run", "--jars", str(jar_path())]
    command += ["--conf", f"spark.sql.extensions={EXTENSION}"]
    environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = pyarrow.parquet.read_table(tmp_path / "spark-warehouse" / "latest").to_pylist()
    assert sorted((row["id"], row["found"]) for row in rows) == [(n, min(n, 4)) for n in range(9)]
