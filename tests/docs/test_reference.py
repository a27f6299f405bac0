"""The reference agrees with the code on settings, options, keys, errors, names and links."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
import yaml
from pydantic import BaseModel
from spark_joinery.airflow import get_provider_info
from spark_joinery.cli import COMMANDS
from spark_joinery.cli import main as joinery_cli
from spark_joinery.jar import supported_versions
from spark_joinery.metadata import BloomFilterSpec, DistributionSpec, JoineryMeta, RangeIndexSpec
from support.documentation import ROOT, anchors, code_in_first_column, pages, ragged_rows, tables, tokens

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REFERENCE = ROOT / "docs" / "reference"
PAGES = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages()]


def test_every_setting_of_spark(spark: SparkSession) -> None:
    spark.conf.unset("spark.joinery.explain")
    declared = {
        row["key"]: (row["value"].replace("<undefined>", "none"), row["meaning"])
        for row in spark.sql("SET -v").collect()
        if row["key"].startswith("spark.joinery.")
    }
    documented = {
        key.strip("`"): (default.strip("`"), meaning)
        for key, default, meaning in tables(REFERENCE / "configuration.md")[0][1:]
    }
    assert documented == declared


def test_settings_named_anywhere_exist() -> None:
    declared = code_in_first_column(REFERENCE / "configuration.md")
    for page in pages():
        named = set(re.findall(r"spark\.joinery\.[a-zA-Z.]*[a-zA-Z]", page.read_text()))
        assert named <= declared, page


@pytest.mark.parametrize("page", PAGES)
def test_every_row_of_a_table_has_its_cells(page: Path) -> None:
    assert ragged_rows(page) == []


def test_every_shim_of_a_spark_version() -> None:
    shims = {shim.stem for shim in (ROOT / "jvm/src/main").glob("spark-*/**/*.scala")}
    listed = next(table for table in tables(ROOT / "docs/spark-internals.md") if table[0][0] == "shim")
    documented = {name.strip("`") for row in listed[1:] for name in row[0].split(", ")}
    assert documented == shims


def test_every_line_of_spark() -> None:
    listed = json.loads((ROOT / "jvm/spark-versions.json").read_text())
    lines = {line: (entry["scala"], "supported") for line, entry in listed["versions"].items()}
    rows = tables(REFERENCE / "spark-versions.md")[0][1:]
    documented = {line: (scala, re.split("[, ]", state)[0]) for line, scala, _, state in rows}
    assert documented == lines


def test_every_line_of_spark_runs_each_night() -> None:
    lines = sorted(json.loads((ROOT / "jvm/spark-versions.json").read_text())["versions"])
    jobs = yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text())["jobs"]
    assert {name: job["strategy"]["matrix"]["line"] for name, job in jobs.items() if "strategy" in job} == {
        "suites": lines,
        "fuzz": lines,
    }


def test_every_variable_of_dbt() -> None:
    declared = yaml.safe_load((ROOT / "dbt_macros/dbt_project.yml").read_text())["vars"]
    documented = {
        key.strip("`"): default.strip("`") for key, default, _ in tables(REFERENCE / "configuration.md")[1][1:]
    }
    assert documented == {key: json.dumps(value).strip('"') for key, value in declared.items()}


def test_every_field_of_the_connection() -> None:
    connection = get_provider_info()["connection-types"][0]
    labels = connection["ui-field-behaviour"]["relabeling"]
    declared = {label: field for field, label in labels.items()}
    declared |= {entry["label"]: field for field, entry in connection["conn-fields"].items()}
    documented = {label: field.strip("`") for label, field, _ in tables(REFERENCE / "configuration.md")[2][1:]}
    assert documented == declared


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_the_command_line(name: str) -> None:
    """A section lists the options of its command alone, and names those that the head of the page lists for several."""
    head, *sections = (REFERENCE / "cli.md").read_text().split("\n## joinery ")
    section = next(section for section in sections if section.startswith(f"{name}\n"))
    own = re.findall(r"^- `(--[a-z-]+)`:", section, re.MULTILINE)
    [line] = re.findall(r"^Also: .+", section, re.MULTILINE)
    shared = re.findall(r"`(--[a-z-]+)`", line)
    command = joinery_cli.get_command(click.Context(joinery_cli), name)
    assert command is not None
    declared = [opt for param in command.params if isinstance(param, click.Option) for opt in param.opts]
    assert sorted(own + shared) == sorted(declared)
    assert set(shared) <= set(re.findall(r"^- `(--[a-z-]+)`:", head, re.MULTILINE))


@pytest.mark.parametrize(
    ("number", "model"),
    [(0, DistributionSpec), (1, BloomFilterSpec), (2, RangeIndexSpec)],
    ids=["distributions", "bloom", "range"],
)
def test_every_key_of_meta_joinery(number: int, model: type[BaseModel]) -> None:
    rows = {row[0].strip("`"): row[1].strip("`") for row in tables(REFERENCE / "meta-joinery.md")[number][1:]}
    declared = {}
    for name, field in model.model_fields.items():
        default = "required" if field.is_required() else str(field.default or "none")
        declared[name] = "decided by the job" if name == "hot" else default
    assert {name: default for name, default in rows.items() if not name.startswith("hot:")} == declared
    assert list(JoineryMeta.model_fields)[number] in anchors(REFERENCE / "meta-joinery.md")


def test_every_error_of_last_join() -> None:
    source = "".join(path.read_text() for path in (ROOT / "jvm/src/main/scala").rglob("*.scala"))
    declared = set(re.findall(r'\bfail\(\s*"([A-Z_]+)"', source))
    declared |= set(re.findall(r'new JoineryException\(\s*"([A-Z_]+)"', source)) - {"INVALID_HINT"}
    declared |= {f"ORDER_BY_{kind}" for kind in re.findall(r'refuse\("([A-Z_]+)"', source)}
    declared |= set(re.findall(r'checkSide\(\w+, "([A-Z_]+)"', source))
    declared |= set(re.findall(r'"\[JOINERY_LAST_JOIN\.([A-Z_]+)\]', source))
    errors = next(table for table in tables(REFERENCE / "last-join.md") if table[0][0] == "condition")
    assert {row[0].strip("`") for row in errors[1:]} == declared


def test_every_error_of_asof_join() -> None:
    source = (ROOT / "jvm/src/main/scala/io/github/sparkjoinery/lastjoin/rules/CheckAsOfJoin.scala").read_text()
    declared = set(re.findall(r'\breject\(\s*"([A-Z_]+)"', source))
    errors = next(table for table in tables(REFERENCE / "asof-join.md") if table[0][0] == "condition")
    assert {row[0].strip("`") for row in errors[1:]} == declared


def test_spark_versions_of_the_readme() -> None:
    row = next(row for table in tables(ROOT / "README.md") for row in table if row[0] == "Spark")
    default, *others = supported_versions()
    assert row[1].startswith(", ".join([f"{default} (default)", *others]) + ";")


def test_versions_of_the_lakes() -> None:
    tested = re.findall(
        r'"(?:io\.delta|org\.apache\.iceberg):.*-spark.*:([\d.]+)"',
        (ROOT / "tests/integration/conftest.py").read_text(),
    )
    page = (ROOT / "docs/how-to/your-spark.md").read_text()
    assert "with Delta Lake {} and Iceberg {},".format(*tested) in page


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    for token in tokens(page):
        target = str(token.attrGet("href") or "")
        if target and not target.startswith("https://"):
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            assert file.exists(), target
            assert not anchor or anchor in anchors(file), target


@pytest.mark.parametrize("page", PAGES)
def test_paths_and_classes_named_in_the_text_exist(page: Path) -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    folders = {path.partition("/")[0] for path in tracked if "/" in path}
    scala = "".join(path.name for path in (ROOT / "jvm/src").rglob("*.scala"))
    python = "".join(path.read_text() for path in (ROOT / "airflow_provider").rglob("*.py"))
    for token in tokens(page):
        if token.type != "code_inline" or re.search(r"[<*\s]|/target/", token.content):
            continue
        if token.content.partition("/")[0] in folders and "/" in token.content:
            assert (ROOT / token.content).exists(), token.content
        if re.fullmatch(r"(?:\w+LastJoin\w+|Joinery\w+|LastJoin\w+|\w+Operator|\w+Sensor)", token.content):
            in_scala = f"{token.content}.scala" in scala or f"{token.content}Exec.scala" in scala
            assert in_scala or f"class {token.content}(" in python, token.content
