"""`joinery refresh` as a user runs it, in processes of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from spark_joinery.cli import main
from spark_joinery.cli.refresh import show_results
from spark_joinery.jobs import RefreshResult, program

# Runs several commands in one process, because most of the time goes into starting a JVM.
CODE = """
import sys
from spark_joinery.cli import main

for command in sys.argv[1:]:
    try:
        main(["refresh", *command.split()])
    except SystemExit as end:
        print(f"EXIT CODE {end.code}END", flush=True)
"""


class Run(NamedTuple):
    """A command's output, and its exit code."""

    shown: str
    code: int

    def rows(self) -> list[dict[str, Any]]:
        """The results of a command with --json."""
        results: list[dict[str, Any]] = json.loads(self.shown)
        return results


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """A manifest with all three kinds for one path, and a filter on a missing column."""
    joinery = {
        "distributions": [{"partition_by": ["k"], "order_by": "ts"}],
        "bloom_filters": [{"keys": ["k"]}, {"keys": ["nope"]}],
        "range_indexes": [{"point": "ts"}],
    }
    node = {"resource_type": "source", "relation_name": f"parquet.`{tmp_path}/source`"}
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {},
        "sources": {"source.shop.raw.t": {**node, "config": {"meta": {"joinery": joinery}}}},
    }
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(document))
    return path


def refresh(manifest: Path, *commands: str) -> list[Run]:
    """Run `joinery refresh` once with each of these arguments."""
    folder = manifest.parent
    options = f"--manifest {manifest} --store {folder}/store --warehouse {folder}/warehouse"
    command = [sys.executable, "-c", CODE, *(f"{arguments} {options}" for arguments in commands)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs = [run.rpartition("EXIT CODE ") for run in done.stdout.split("END\n")[:-1]]
    return [Run(shown, int(code)) for shown, _, code in runs]


def test_square_brackets_are_no_markup(tmp_path: Path) -> None:
    """Square brackets may occur in a predicate or in the name of a table."""
    where = "a[0] = ':fire:' AND b RLIKE '[bold]x[/bold]'"
    path = tmp_path / "manifest.json"
    node = {"resource_type": "source", "relation_name": "raw.`t[red]x`"}
    joinery = {"bloom_filters": [{"keys": ["k"], "where": where}]}
    document = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
        "nodes": {},
        "sources": {"source.shop.raw.t": {**node, "config": {"meta": {"joinery": joinery}}}},
    }
    path.write_text(json.dumps(document))
    shown = CliRunner(env={"COLUMNS": "400"}).invoke(main, ["refresh", "--dry-run", "--manifest", str(path)])
    assert shown.exit_code == 0, shown.output
    assert where in shown.output
    assert "t[red]x" in shown.output


def test_results_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show_results([RefreshResult("raw.t[red]x", "bloom_filter", "failed", "no column a[0] :fire:")], as_json=False)
    shown = capsys.readouterr().out
    assert "raw.t[red]x" in shown
    assert "no column a[0] :fire:" in shown


@pytest.mark.parametrize(
    ("program", "environment", "reason"),
    [
        (["spark_joinery.jobs.bloom_filter"], {"JAVA_HOME": "/nowhere"}, "JAVA_GATEWAY_EXITED"),
        (["spark_joinery.cli", "refresh"], {"JAVA_HOME": "/nowhere"}, "JAVA_GATEWAY_EXITED"),
        (["spark_joinery.cli", "refresh", "--conf", "spark.master=local[x]"], {}, "Could not parse Master URL"),
    ],
    ids=["program without Java", "command without Java", "no such master"],
)
def test_without_spark_nothing_is_started(
    manifest: Path, program: list[str], environment: dict[str, str], reason: str
) -> None:
    name, *arguments = program
    code = "import sys; from spark_joinery.cli import main; main()" if name.endswith(".cli") else None
    done = subprocess.run(
        [
            sys.executable,
            *(["-c", code] if code else ["-m", name]),
            *arguments,
            *("--manifest", str(manifest), "--store", f"{manifest.parent}/store"),
        ],
        cwd=manifest.parent,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert re.search(rf"(?i)^error: Spark could not be started: .*{reason}", done.stderr, re.MULTILINE), done.stderr


def test_a_store_that_cannot_be_opened_is_one_line(manifest: Path) -> None:
    """The command and then a job as a program run in one process."""
    code = """
import sys
from spark_joinery.cli import main
from spark_joinery.jobs import program

options = sys.argv[1:]
try:
    main(["refresh", *options])
except SystemExit as end:
    print("command", end.code)
print("program", program.run("bloom_filter", options))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "--manifest", str(manifest), "--store", "nosuchfs://box/store"],
        cwd=manifest.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["command 2", "program 2"], done.stderr
    assert "Traceback" not in done.stderr
    said = re.findall(r"(?im)^error: The artifact store cannot be used: .*No FileSystem for scheme.*$", done.stderr)
    assert len(said) == 2, done.stderr


@pytest.mark.timeout(400)
def test_kinds_modes_and_exit_codes(spark: SparkSession, manifest: Path, tmp_path: Path) -> None:
    spark.range(100).selectExpr("id % 5 k", "id ts").write.parquet(str(tmp_path / "source"))
    (first,) = refresh(manifest, "--json")
    assert first.code == 1, first.shown
    found = [(row["kind"], row["status"], row["mode"]) for row in first.rows()]
    assert found == [
        ("distribution", "refreshed", "full"),
        ("bloom_filter", "refreshed", "full"),
        ("bloom_filter", "failed", None),
        ("range_index", "refreshed", "full"),
    ]
    assert "has no column 'nope'" in first.rows()[2]["reason"]

    # a JVM cannot open an embedded metastore twice
    without_hive = "range-index --conf spark.sql.catalogImplementation=in-memory"
    unchanged, full = refresh(manifest, without_hive, "distribution --full-refresh --json")
    assert unchanged.code == 0, unchanged.shown
    assert "unchanged" in unchanged.shown
    assert "bloom_filter" not in unchanged.shown

    assert full.code == 0, full.shown
    (row,) = full.rows()
    assert (row["kind"], row["status"], row["mode"], row["rows"]) == ("distribution", "refreshed", "full", 100)
    assert str(row["table"]).startswith("joinery.dist_")


@pytest.mark.parametrize(
    ("kind", "kinds"),
    [
        ("all", ["distribution", "bloom_filter", "bloom_filter", "range_index"]),
        ("distribution", ["distribution"]),
        ("bloom", ["bloom_filter", "bloom_filter"]),
        ("range-index", ["range_index"]),
    ],
)
def test_a_dry_run_shows_the_kind_asked_for(manifest: Path, kind: str, kinds: list[str]) -> None:
    result = CliRunner().invoke(main, ["refresh", kind, "--manifest", str(manifest), "--dry-run", "--json"])
    assert result.exit_code == 0, result.output
    assert [row["kind"] for row in json.loads(result.output)] == kinds


def test_a_dry_run_tells_the_artifacts_of_a_relation_apart(manifest: Path) -> None:
    """Columns and kinds come first, so a narrow terminal does not cut them."""
    result = CliRunner().invoke(main, ["refresh", "--manifest", str(manifest), "--dry-run"])
    assert result.exit_code == 0, result.output
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.output.splitlines() if "│" in line]
    assert [(row[0], row[2]) for row in rows if row[0]] == [
        ("distribution", "partition_by: k; order_by: ts"),
        ("bloom_filter", "keys: k"),
        ("bloom_filter", "keys: nope"),
        ("range_index", "point: ts"),
    ]


def test_a_job_as_a_program_has_the_options_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.run("distribution", ["--help"]) == 0
    shown = capsys.readouterr().out
    for option in ("--manifest", "--store", "--schema", "--select", "--full-refresh"):
        assert option in shown
    assert program.run("distribution", ["--no-such-option"]) == 2
    assert program.run("distribution", ["--manifest", str(tmp_path / "nowhere.json")]) == 2
    assert "no such file" in capsys.readouterr().err
