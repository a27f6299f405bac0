"""The jars of other table formats."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAKE_ARTIFACTS = (
    "io.delta:delta-spark_4.1_2.13:4.4.0",
    "io.delta:delta-storage:4.4.0",
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
)


@pytest.fixture(scope="session")
def lake_jars() -> list[Path]:
    """Delta Lake and Iceberg for Spark 4.1, the newest Spark of ours that both publish a jar for."""
    folder = ROOT / "target/lakehouse"
    jars = []
    for artifact in LAKE_ARTIFACTS:
        _, name, version = artifact.split(":")
        jar = folder / f"{name}-{version}.jar"
        if not jar.exists():
            maven = ["mvn", "--batch-mode", "--quiet", "dependency:copy", f"-Dartifact={artifact}"]
            subprocess.run([*maven, f"-DoutputDirectory={folder}"], check=True, cwd=ROOT)
        jars.append(jar)
    return jars
