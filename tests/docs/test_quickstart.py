"""A new user can follow the quickstart, with an empty environment, the wheel, a dbt project and an Airflow home."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest
import yaml
from support.documentation import ROOT, Block, blocks, tokens

PAGE = ROOT / "docs" / "quickstart.md"

FLIGHTS = """
{{ config(materialized='table') }}
select id as flight_id, if(id % 3 = 0, 'AA', 'UA') as carrier, if(id % 2 = 0, 'JFK', 'LGA') as origin,
  timestamp'2013-01-01' + make_dt_interval(0, id) as departs_at
from range(30)
"""
WEATHER = """
{{ config(materialized='table') }}
select if(id % 2 = 0, 'JFK', 'LGA') as origin, timestamp'2013-01-01' + make_dt_interval(0, id, 30) as observed_at,
  cast(id as double) as temperature
from range(20)
"""
PROFILE = {"type": "spark", "method": "session", "host": "NA", "schema": "analytics", "threads": 1}


def file_names() -> dict[int, str]:
    """The file that each block belongs in, by the line of its content: the last file named in the text before it."""
    named: dict[int, str] = {}
    name = ""
    for token in tokens(PAGE):
        if token.type == "inline":
            name = next(iter(re.findall(r"`([\w/]+\.(?:yml|sql|py))`", token.content)), name)
        elif token.type == "fence" and token.map:
            named[token.map[0] + 2] = name
    return named


def commands() -> list[str]:
    """All commands of the page."""
    return [line for block in blocks(PAGE, "sh") for line in block.text.splitlines() if line]


def merged(old: Any, new: Any) -> Any:
    """The content of a YAML file after a reader has added a block to it."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: merged(old.get(key), value) for key, value in new.items()}
    return new


class Reader:
    """A reader with a dbt project and an Airflow home, who does what the page says.

    Args:
        folder: The folder that holds all of the reader's files.
    """

    def __init__(self, folder: Path) -> None:
        self.project = folder / "my_project"
        self.airflow_home = folder / "airflow"
        (self.airflow_home / "dags").mkdir(parents=True)
        self._saved = folder / "environment"
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("AIRFLOW", "DBT_", "JOINERY_", "PYTEST", "PYTHON", "PYSPARK", "SPARK_HOME"))
        } | {
            "PATH": f"{folder / 'python' / 'bin'}:{os.environ['PATH']}",
            "AIRFLOW_HOME": str(self.airflow_home),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            # the versions of all other tests
            "PIP_CONSTRAINT": str(ROOT / "requirements" / "dev.txt"),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def run(self, script: str) -> str:
        """Run commands in the project's folder; variables that they export stay set for the next commands.

        Args:
            script: A bash script.

        Returns:
            The standard output of the script.
        """
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"{script}\nenv -0 > {self._saved}"],
            cwd=self.project,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        self.environment = dict(pair.split("=", 1) for pair in self._saved.read_text().split("\0") if pair)
        return done.stdout

    def write(self, block: Block, name: str) -> None:
        """Write a block of the page to a file, or merge it into the file's YAML."""
        path = (self.airflow_home / "dags" if name.endswith(".py") else self.project) / name
        text = block.text
        if block.language == "yaml" and path.exists():
            text = yaml.safe_dump(merged(yaml.safe_load(path.read_text()), yaml.safe_load(text)))
        path.write_text(text)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    folder = tmp_path_factory.mktemp("quickstart")
    wheel = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "joinery" / "dist")]
    subprocess.run(wheel, cwd=ROOT, check=True, capture_output=True)
    shutil.copytree(ROOT / "dbt_macros", folder / "joinery" / "dbt_macros")
    venv.create(folder / "python", with_pip=True)
    models = folder / "my_project" / "models"
    models.mkdir(parents=True)
    (models / "flights.sql").write_text(FLIGHTS)
    (models / "weather.sql").write_text(WEATHER)
    project = {"name": "my_project", "profile": "my_project", "config-version": 2}
    (models.parent / "dbt_project.yml").write_text(yaml.safe_dump(project))
    profiles = {"my_project": {"target": "dev", "outputs": {"dev": PROFILE}}}
    (models.parent / "profiles.yml").write_text(yaml.safe_dump(profiles))
    yield Reader(folder)
    shutil.rmtree(folder)  # an environment with Spark is large


def test_it_takes_ten_commands() -> None:
    assert len(commands()) <= 10


@pytest.mark.soak
@pytest.mark.timeout(1800)  # pip fetches Spark and Airflow
@pytest.mark.dbt
@pytest.mark.airflow
def test_from_pip_install_to_a_refreshed_artifact_and_a_built_model(reader: Reader) -> None:
    names = file_names()
    shown: dict[str, str] = {}
    for block in blocks(PAGE):
        if block.language != "sh":
            reader.write(block, names[block.line])
            continue
        for command in filter(None, block.text.splitlines()):
            shown[" ".join(command.split()[:2])] = reader.run(command)
            if command.startswith("pip install"):
                reader.run("airflow db migrate")  # a reader's Airflow already has a database
    assert "extension mode" in shown["joinery doctor"]
    assert "distribution" in shown["joinery list"]
    assert "BroadcastLastJoin" in shown["joinery explain"]
    (artifact,) = json.loads(reader.run("joinery list --store joinery_store --json"))
    assert artifact["relation"].endswith("analytics.flights")
    built = pyarrow.dataset.dataset(reader.project / "spark-warehouse" / "analytics.db" / "flight_weather")
    rows = {row["flight_id"]: row["temperature"] for row in built.to_table().to_pylist()}
    assert len(rows) == 30
    # flight 0 leaves at midnight, before any report; flight 2 leaves JFK at 02:00, after the report of 00:30
    assert (rows[0], rows[2]) == (None, 0.0)
