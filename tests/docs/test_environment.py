"""No other program reads our environment variables, because Airflow hands its environment to all that it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click import Command
from support.documentation import ROOT, pages

READ_OR_SET = re.compile(
    r"""(?:environ(?:\.get\(|\[)|getenv\(|env\.get\(|env_var\()\s*["']([A-Za-z]\w*)|\bexport ([A-Za-z]\w*)="""
)
# Variables of Airflow, Spark, Hadoop, Java and Python, which keep their meaning here.
OTHERS = {
    "AIRFLOW_CONN_JOINERY_DEFAULT",
    "AIRFLOW_HOME",
    "HADOOP_CONF_DIR",
    "JAVA_HOME",
    "PYSPARK_PYTHON",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_CONF_DIR",
    "SPARK_HOME",
    "SPARK_LOCAL_IP",
    "SPARK_REMOTE",
    "PYTHONPATH",
}


def files() -> list[Path]:
    """The pages, and all files that users install or copy."""
    folders = ("airflow_provider", "dbt_macros", "models_example", "jvm/src/main")
    suffixes = {".py", ".sql", ".yml", ".scala", ".java", ".md"}
    inside = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    return [*pages(), *(path for path in inside if "dbt_packages" not in path.parts)]


def variables() -> dict[str, Path]:
    """Names of environment variables, each with a file that reads or sets it."""
    return {next(filter(None, match.groups())): path for path in files() for match in read_or_set(path)}


def read_or_set(path: Path) -> Iterator[re.Match[str]]:
    return READ_OR_SET.finditer(path.read_text(encoding="utf-8"))


def of_dbt(command: Command) -> Iterator[str]:
    """The variables that set options of dbt's command line."""
    for parameter in command.params:
        names = parameter.envvar or ()
        yield from [names] if isinstance(names, str) else names
    for below in getattr(command, "commands", {}).values():
        yield from of_dbt(below)


def test_variables_of_ours_begin_with_our_name() -> None:
    found = variables()
    assert {"JOINERY_JAR", "JOINERY_DBT_PROJECT_DIR"} <= found.keys()
    assert not {name: path for name, path in found.items() if not name.startswith("JOINERY_") and name not in OTHERS}


@pytest.mark.dbt
def test_no_variable_is_one_of_dbt() -> None:
    from dbt.cli.main import cli

    of_its = set(of_dbt(cli))
    assert {"DBT_PROJECT_DIR", "DBT_ENGINE_PROJECT_DIR"} <= of_its
    taken = {name: path for name, path in variables().items() if name in of_its or name.startswith("DBT_")}
    assert not taken
