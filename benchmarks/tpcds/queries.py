"""TPC-DS's queries in Spark's spelling, from the jar of Spark's own tests on Maven Central."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from benchmarks.common.data import made_once

# The newest Spark whose tests are published. The queries have not changed for years.
SPARK_TESTS = "org.apache.spark:spark-sql_2.13:4.2.0:jar:tests"
FETCH = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
FOLDER = "tpcds"


@cache
def queries() -> Mapping[str, str]:
    """The 99 queries by name. Four of them come in two parts (`q14a`, `q14b`)."""
    (jar,) = made_once(f"spark_tests_{SPARK_TESTS.replace(':', '_')}", _fetch).glob("*.jar")
    with zipfile.ZipFile(jar) as archive:
        files = [PurePosixPath(name) for name in archive.namelist()]
        found = {file.stem: archive.read(str(file)).decode() for file in files if _is_query(file)}
    return dict(sorted(found.items(), key=lambda query: _number(query[0])))


def _is_query(file: PurePosixPath) -> bool:
    return str(file.parent) == FOLDER and file.suffix == ".sql" and file.stem.startswith("q")


def _number(name: str) -> tuple[int, str]:
    """The place of a query by its name: `q2`, then `q14a`, then `q14b`."""
    digits = name[1:].rstrip("ab")
    return int(digits), name


def _fetch(folder: Path) -> None:
    command = ["mvn", "--batch-mode", "-q", FETCH, f"-Dartifact={SPARK_TESTS}", f"-DoutputDirectory={folder}"]
    subprocess.run(command, check=True)
