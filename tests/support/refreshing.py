"""Functions that write sources of refreshes, and read or change published versions."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from spark_joinery.metadata import ArtifactRequest
from spark_joinery.store import ArtifactStore


def write(spark: SparkSession, folder: Path, rows: str, *, aged_s: float = 60) -> None:
    """Append a file of rows, and set its time to a while ago."""
    before = set(folder.glob("*.parquet"))
    spark.sql(f"SELECT id % 3 AS k, id AS ts FROM {rows}").coalesce(1).write.mode("append").parquet(str(folder))
    for file in set(folder.glob("*.parquet")) - before:
        os.utime(file, (file.stat().st_mtime - aged_s,) * 2)


def contents(spark: SparkSession, store: ArtifactStore, request: ArtifactRequest) -> list[str]:
    """The rows of an artifact's current version, sorted, without regard to its files."""
    version = store.current(request.kind, request.relation, request.spec_hash).version
    assert version is not None
    rows = spark.read.option("recursiveFileLookup", "true").parquet(version.data_path).collect()
    return sorted(map(repr, rows))


def redescribe(store: ArtifactStore, request: ArtifactRequest, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the `version.json` of the current version, and drop its seal, as if an older release had written it."""
    version = store.current(request.kind, request.relation, request.spec_hash).version
    assert version is not None
    path = Path(version.path.removeprefix("file:"))
    description = json.loads((path / "version.json").read_text())
    del description["own_sha256"]
    change(description)
    content = json.dumps(description).encode()
    (path / "version.json").write_bytes(content)
    current = path.parents[1] / "_current.json"
    pointer = {**json.loads(current.read_text()), "version_sha256": hashlib.sha256(content).hexdigest()}
    current.write_text(json.dumps(pointer))
