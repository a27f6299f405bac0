"""The example on real data, loaded once, and built in a session with the extension and in one without it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from spark_joinery import jar_path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "models_example"


@dataclass(frozen=True)
class Example:
    """A loaded and built example, with its home directory and dbt's report for each `TARGET:MODE:COMMAND`."""

    home: Path
    builds: dict[str, dict[str, Any]]

    def table(self, name: str) -> str:
        """Return DuckDB's name for a table of the warehouse, read as the Parquet files that Spark wrote."""
        schema, table = name.split(".")
        files = f"{self.home}/warehouse/{schema}.db/{table}/**/*.parquet"
        return f"read_parquet('{files}', hive_partitioning = true)"


def environment(home: Path) -> dict[str, str]:
    """Return the variables that the demo sets, for a process of the example."""
    program = "import json, settings, sys; from pathlib import Path\n"
    program += "print(json.dumps(settings.environment(Path(sys.argv[1]), Path(sys.argv[2]))))"
    command = [sys.executable, "-c", program, str(home), str(jar_path())]
    printed = subprocess.run(command, cwd=EXAMPLE, check=True, capture_output=True, text=True).stdout
    return {**os.environ, **json.loads(printed)}


def run(home: Path, *command: str) -> str:
    """Run Python with these arguments in the example's environment, and return its output. A failure shows it."""
    # `make test` lets JVMs use the C1 compiler only. These queries run for long, so that would be slower here.
    variables = {name: value for name, value in environment(home).items() if name != "JDK_JAVA_OPTIONS"}
    done = subprocess.run([sys.executable, *command], env=variables, cwd=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Home directory with the 336,776 flights loaded, and a large table of two copies."""
    home = tmp_path_factory.mktemp("example")
    run(home, str(EXAMPLE / "load_sources.py"), "--rows", "400000")
    return home


@pytest.fixture(scope="session")
def example(loaded: Path) -> Example:
    """The example built with dbt: in a session with the extension, then in one without it."""
    run(loaded, str(Path(__file__).with_name("build.py")), "builds")
    lines = [json.loads(line) for line in (loaded / "builds").read_text().splitlines()]
    return Example(loaded, {line["build"]: line for line in lines})
