"""The wheel holds all files that it needs, and works in an environment where only it is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
import spark_joinery

ROOT = Path(__file__).parents[2]
JARS = ROOT / "airflow_provider/spark_joinery/jars"
VERSIONS = json.loads((ROOT / "jvm/spark-versions.json").read_text())


def jar_name(line: str, version: str) -> str:
    """The name of a line's jar, with the Scala version of its Spark."""
    scala = VERSIONS["versions"][line]["scala"].rpartition(".")[0]
    return f"spark-joinery-{line}_{scala}-{version}.jar"


def built_lines() -> list[str]:
    """The lines whose jars were built here: three in `make test`, all in `make soak`."""
    lines = [line for line in VERSIONS["versions"] if (JARS / jar_name(line, spark_joinery.__version__)).exists()]
    assert VERSIONS["default"] in lines
    return lines


@pytest.mark.soak
def test_every_line_has_a_jar() -> None:
    assert built_lines() == list(VERSIONS["versions"])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("spark_joinery-*.whl")
    return built


def test_contents(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    version = wheel.name.split("-")[1]
    expected = {f"spark_joinery/jars/{jar_name(line, version)}" for line in built_lines()}
    expected |= {f"spark_joinery/{name}" for name in ("py.typed", "spark-versions.json")}
    expected |= {"spark_joinery/metadata/meta.joinery.v1.json"}
    expected |= {f"spark_joinery/report/templates/report.{ending}" for ending in ("html", "css")}
    assert expected <= names
    assert {name for name in names if name.endswith(".jar")} == {name for name in expected if name.endswith(".jar")}


def test_installed_alone_it_finds_every_jar(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = str(environment / "bin/python")
    pip = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    code = "import json, spark_joinery; print(json.dumps([str(spark_joinery.jar_path(v)) for v in %r]))"
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [python, "-c", code % built_lines()],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=clean,
    )
    jars = json.loads(done.stdout)
    assert len(jars) == len(built_lines())
    for jar in jars:
        assert Path(jar).is_file()
        assert Path(jar).is_relative_to(environment)
