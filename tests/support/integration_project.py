"""Copies the dbt project `tests/dbt/integration_project`, and builds it in a profile and a mode."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from support.dbt_project import PACKAGE

PROJECT = PACKAGE.parent / "tests" / "dbt" / "integration_project"
# `BUILT` has the nodes that a `dbt build` must have run, so that a skipped or unselected node is no success.
EXPECTED = sorted(path.stem for path in (PROJECT / "seeds").glob("expected_*.csv"))
GENERIC_TESTS = sum(
    len(tested.get("data_tests", [])) + sum(len(column["data_tests"]) for column in tested.get("columns", []))
    for tested in yaml.safe_load((PROJECT / "models" / "generic_tests.yml").read_text())["seeds"]
)
BUILT = Counter(
    {
        ("operation", "success"): 2,  # the package's hooks check the mode, and lint LAST JOIN
        ("seed", "success"): len(list((PROJECT / "seeds").glob("*.csv"))),
        ("model", "success"): len(EXPECTED) + 1,  # and the distribution of a window
        ("test", "pass"): len(EXPECTED) + GENERIC_TESTS,
    }
)
# SQL that only the jar understands, or that is only for the jar.
FOR_THE_JAR = ("last join", "/*+ range_join", "/*+ runtime_filter")


def copy_project(folder: Path) -> Path:
    """Copy the project, so that a run leaves nothing in the repository.

    Args:
        folder: The folder to create.

    Returns:
        The folder.
    """
    return Path(shutil.copytree(PROJECT, folder))


def variables(mode: str) -> str:
    """The vars of a mode, for the command line."""
    return json.dumps({"joinery_mode": mode, "joinery_min_part_rows": 1})


def environment(schema: str, **more: str) -> dict[str, str]:
    """The environment variables that the project's profile and `packages.yml` read.

    Args:
        schema: The schema of one run, so that several runs can share a server.
        **more: Further variables.
    """
    return {"JOINERY_TEST_SCHEMA": schema, "JOINERY_TEST_PACKAGE": str(PACKAGE), "DO_NOT_TRACK": "1", **more}


def run(project: Path, variables_: dict[str, str], *command: str) -> str:
    """Run dbt in a process of its own. If it fails, the error has its output.

    Args:
        project: The folder of the project.
        variables_: Variables to add to the environment.
        *command: The command line of dbt.

    Returns:
        The standard output.
    """
    dbt = [str(Path(sys.executable).parent / "dbt"), "--no-use-colors", *command, "--project-dir", str(project)]
    done = subprocess.run(
        [*dbt, "--profiles-dir", str(project)],
        cwd=project,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, **variables_},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def outcomes(project: Path) -> Counter[tuple[str, str]]:
    """The number of nodes by type and status in the last run."""
    results: list[dict[str, Any]] = json.loads((project / "target" / "run_results.json").read_text())["results"]
    return Counter((one["unique_id"].split(".")[0], one["status"]) for one in results)


def compiled(project: Path) -> str:
    """The SQL of all models of the last run, in lower case."""
    folder = project / "target" / "compiled" / "joinery_integration" / "models"
    return "\n".join(path.read_text() for path in sorted(folder.glob("*.sql"))).lower()
