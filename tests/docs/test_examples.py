"""Every example of README and docs runs; `make`, `joinery`, `dbt` and other commands are checked for existence."""

from __future__ import annotations

import ast
import itertools
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import click
import pytest
import spark_joinery
import yaml
from airflow.cli.cli_parser import get_parser
from pyspark.sql import DataFrame, SparkSession
from spark_joinery.cli import main as joinery_cli
from spark_joinery.jar import EXTENSION, supported_versions
from spark_joinery.metadata import JoineryMeta
from support.answers import settings
from support.dbt_project import Dbt
from support.documentation import ROOT, Block, blocks, pages


def cases(*languages: str) -> list[Any]:
    """One test case for each page with blocks of these languages."""
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages() if blocks(page, *languages)]


@pytest.mark.parametrize("page", cases("sql", "python"))
def test_sql_and_python_run(page: Path, session: SparkSession) -> None:
    namespace: dict[str, Any] = {"spark": session, "__name__": page.stem}
    shown = ""
    for block in blocks(page):
        if block.language == "sql":
            shown = run_sql(session, block)
        elif block.language == "python":
            run_python(block, namespace)
        elif block.language == "text" and shown:
            assert_shows(block, shown)
        if block.language != "sql":
            shown = ""


def run_sql(spark: SparkSession, block: Block) -> str:
    """Run a block's statements, or expect the error that its remark names; return the output of the last one."""
    shown = ""
    for statement in re.split(r";\s*$", block.text, flags=re.MULTILINE):
        if error := block.remark.removeprefix("error="):
            with pytest.raises(Exception, match=re.escape(f"[{error}]")):
                spark.sql(statement).collect()
        else:
            frame = spark.sql(statement)
            rows = frame.collect()
            shown = rows[0][0] if frame.columns == ["plan"] else frame._show_string()
    return shown


def run_python(block: Block, namespace: dict[str, Any]) -> None:
    """Run a block, and collect the DataFrame of its last statement. A block marked `no-run` only runs its imports."""
    tree = ast.parse(block.text, str(block))
    if block.remark == "no-run":
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] in ("pyspark", "spark_joinery"):
                exec(compile(ast.Module([node], []), str(block), "exec"), {})
        return
    assert not block.remark, f"{block}: unknown remark {block.remark}"
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.fix_missing_locations(ast.Assign([ast.Name("_", ast.Store())], last.value))
    namespace["_"] = None
    exec(compile(tree, str(block), "exec"), namespace)
    named = last.targets[0] if isinstance(last, ast.Assign) else None
    result = namespace[named.id] if isinstance(named, ast.Name) else namespace["_"]
    if isinstance(result, DataFrame):
        result.collect()


def assert_shows(block: Block, shown: str) -> None:
    """Assert that the lines of a block are shown in this order. Expression numbers do not count: they always differ."""

    def normal(line: str) -> str:
        return re.sub(r"#\d+", "#", line.strip())

    actual = iter([normal(line) for line in shown.splitlines()])
    for line in block.text.splitlines():
        expected = normal(line)
        assert expected == "..." or any(expected in one for one in actual), f"{block}: {line}\nnot in\n{shown}"


@pytest.mark.parametrize("page", cases("scala"))
def test_scala_is_in_a_suite(page: Path) -> None:
    """Each line of an example is also in a Scala suite, which compiles and runs it."""
    sources = [path.read_text() for path in (ROOT / "jvm/src").rglob("*.scala")]
    lines = {line.strip().rstrip(",") for source in sources for line in source.splitlines()}
    for block in blocks(page, "scala"):
        missing = [line for line in block.text.splitlines() if line and line not in lines]
        assert not [line for line in missing if not line.startswith("import io.github.sparkjoinery.")], block


def test_dbt_examples_build(project: Dbt, session: SparkSession) -> None:
    with settings(session, {"spark.sql.ansi.enabled": "false"}):
        built = project.invoke("build")
    assert built.success, project.log
    examples = [result for result in built.result.results if result.node.name.startswith("example_")]
    assert examples
    assert {result.status for result in examples} == {"success"}


def values_of(key: str, document: Any) -> Iterator[Any]:
    """Yield the values of a key at any depth of a document."""
    for name, value in document.items() if isinstance(document, dict) else enumerate(document):
        if name == key:
            yield value
        if isinstance(value, (dict, list)):
            yield from values_of(key, value)


@pytest.mark.parametrize("page", cases("yaml"))
def test_yaml_is_what_joinery_and_dbt_read(page: Path) -> None:
    for block in blocks(page, "yaml"):
        document = yaml.safe_load(block.text)
        for meta in values_of("meta", document):
            JoineryMeta.model_validate(meta["joinery"])
        modes = list(values_of("joinery_mode", document))
        extensions = list(values_of("spark.sql.extensions", document))
        packages = [ROOT / "docs" / package for package in values_of("local", document)]
        assert set(modes) <= {"auto", "extension", "portable"}, block
        assert set(extensions) <= {EXTENSION}, block
        assert all((package.parent.name, package.name) == ("joinery", "dbt_macros") for package in packages), block
        assert modes or extensions or packages or "meta" in block.text, f"{block}: nothing in it is checked"


@pytest.mark.parametrize("page", cases("sh"))
def test_commands_exist(page: Path, spark: SparkSession) -> None:
    for block in blocks(page, "sh"):
        for line in block.text.splitlines():
            assignment = re.fullmatch(r"(?:export )?[A-Z_]+=(?:\$\((.*)\)|('.*'|\S+))", line)
            command = (assignment[1] or "") if assignment else line
            check_command(shlex.split(command), block, spark)


def check_command(words: list[str], block: Block, spark: SparkSession) -> None:
    """Assert that the command, its goals and its options exist."""
    makefile = (ROOT / "Makefile").read_text()
    match words:
        case []:
            pass
        case ["find", *_]:
            pass  # run by tests/airflow/test_pages.py
        case ["make", *goals]:
            for goal in goals:
                name, variable, _ = goal.partition("=")
                pattern = rf"\$\({name}\)" if variable else rf"^{name}:.*##"
                assert re.search(pattern, makefile, re.MULTILINE), f"{block}: make {goal}"
        case ["joinery", command, *options]:
            parse(joinery_cli, command, options)
        case ["dbt", command, *options]:
            from dbt.cli.main import cli as dbt_cli  # imported late, as it takes long in each process

            parse(dbt_cli, command, options)
        case ["airflow", *options]:
            get_parser().parse_args(options)
        case ["pip", "install", wheel]:
            name, _, extras = Path(wheel).name.partition("[")
            assert name.startswith(f"spark_joinery-{spark_joinery.__version__}-py3"), f"{block}: {wheel}"
            declared = set(metadata("spark-joinery").get_all("Provides-Extra", []))
            assert set(filter(None, extras.rstrip("]").split(","))) <= declared, f"{block}: {wheel}"
        case ["python", "-c", code]:
            exec(compile(code, str(block), "exec"), {})
        case ["python", "-m", module, *options]:
            shown = subprocess.run(
                [sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=False
            )
            assert shown.returncode == 0, f"{block}: {module}"
            known = shown.stdout.replace("=", " ").split()
            assert all(option in known for option in options if option.startswith("--")), f"{block}: {options}"
        case [".venv/bin/python", "-m", "pytest", path, *_]:
            assert (ROOT / path).exists(), f"{block}: {path}"
        case ["python3", "jvm/build.py", line, "suites", *names]:
            assert line in supported_versions(), f"{block}: {line}"
            for name in names:
                path = ROOT / "jvm/src/test/scala/io/github/sparkjoinery" / name.replace(".", "/")
                assert path.is_dir() or path.with_suffix(".scala").exists(), f"{block}: {name}"
        case ["spark-submit", *options]:
            for option, value in itertools.pairwise(options):
                if option == "--class":
                    assert spark._jvm is not None
                    spark._jvm.java.lang.Class.forName(value)
        case ["java", "-cp", _, name]:
            with zipfile.ZipFile(spark_joinery.jar_path()) as jar:
                assert f"{name.replace('.', '/')}.class" in jar.namelist(), f"{block}: {name}"
        case ["spark-pipelines", "run", "--jars", _, "--conf", _]:
            pass  # run by tests/integration/test_pipelines.py
        case _:
            pytest.fail(f"{block}: nobody checks `{shlex.join(words)}`")


def test_images_copy_what_is_built() -> None:
    version = spark_joinery.__version__
    lines = supported_versions().items()
    built = {f"spark-joinery-{line}_{entry['scala'].rpartition('.')[0]}-{version}.jar" for line, entry in lines}
    built.add(f"spark_joinery-{version}-py3-none-any.whl")
    copied = {
        line.split()[1]
        for page in pages()
        for block in blocks(page, "dockerfile")
        for line in block.text.splitlines()
        if line.startswith("COPY")
    }
    assert copied
    assert copied <= built


def parse(group: click.Group, name: str, options: list[str]) -> None:
    """Parse a command line without running it; click raises if there is no such option."""
    command = group.get_command(click.Context(group), name)
    assert command is not None, name
    command.make_parser(click.Context(command)).parse_args(list(options))


def test_extension_and_version_are_the_right_ones() -> None:
    named = {name for page in pages() for name in re.findall(r"io\.github\.sparkjoinery\.Joinery\w+", page.read_text())}
    assert named == {EXTENSION}
    assert f"spark_joinery-{spark_joinery.__version__}-py3" in (ROOT / "README.md").read_text()
