"""The command `joinery`, as a user runs it: in a process of its own, where it starts Spark itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from spark_joinery import __version__, jar_path
from spark_joinery.cli import COMMANDS, advice, main
from spark_joinery.cli.explain import read_statement
from spark_joinery.errors import InvalidArgumentError
from spark_joinery.plan_report import explain_sql
from support.answers import assert_declined


def joinery(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).parent / "joinery")
    return subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", **environment},
    )


def test_help_lists_the_commands_and_version_is_the_package_s() -> None:
    shown = CliRunner().invoke(main, ["--help"])
    assert shown.exit_code == 0
    for name, (_, summary) in COMMANDS.items():
        assert name in shown.output
        assert summary in shown.output
    assert CliRunner().invoke(main, ["--version"]).output == f"joinery, version {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(name: str) -> None:
    assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0


def test_commands_and_settings_that_are_wrong() -> None:
    assert CliRunner().invoke(main, ["dance"]).exit_code == 2
    refused = CliRunner().invoke(main, ["explain", "--conf", "spark.sql.ansi.enabled", "SELECT 1"])
    assert refused.exit_code == 2
    assert "'spark.sql.ansi.enabled' is not of the form key=value" in refused.output


def test_doctor_of_a_healthy_installation(tmp_path: Path) -> None:
    store = tmp_path / "store"
    (store / "distribution").mkdir(parents=True)
    done = joinery("doctor", "--json", "--store", str(store), folder=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    checks = {check["name"]: (check["status"], check["detail"]) for check in report["checks"]}
    assert report["ok"]
    assert checks["Java"][0] == checks["pyspark"][0] == "ok"
    assert checks["jar"] == ("ok", str(jar_path()))
    assert checks["jar loaded"] == ("ok", __version__)
    assert checks["store"] == ("ok", f"file:{store}: distribution")
    assert checks["apache-airflow"][0] == "info"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]  # leaves nothing behind


def test_doctor_advises_on_shuffle_partitions(spark: SparkSession) -> None:
    configured = spark.conf.get(advice.PARTITIONS)
    try:
        spark.conf.set(advice.PARTITIONS, "200")
        text = advice.partitions_advice(spark) or ""
        spark.conf.set(advice.PARTITIONS, "15")
        assert advice.partitions_advice(spark) is None
    finally:
        spark.conf.set(advice.PARTITIONS, configured)
    assert text.startswith("spark.sql.shuffle.partitions is 200 for 2 cores: 8 suit them")
    (page,) = re.findall(r"benchmarks/results/\w+\.md", text)
    assert Path(__file__).parents[2].joinpath(page).is_file()


def test_the_gain_of_advice_is_read_from_measured_figures(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    assert advice.measured_gain(figures) is None
    figures.write_text(json.dumps({"case": {"joinery": {"seconds": [9.0, 3.0, 2.9]}}}))
    assert advice.measured_gain(figures) is None
    figures.write_text(json.dumps({"case": {"joinery": {"seconds": [9.0, 3.0, 2.9], "tuned": [2.0, 1.5, 1.4]}}}))
    assert advice.measured_gain(figures) == 2.0


def test_doctor_names_what_is_missing(tmp_path: Path) -> None:
    done = joinery("doctor", folder=tmp_path, JAVA_HOME=str(tmp_path / "no-jdk"), COLUMNS="200")
    assert done.returncode == 1
    assert f"No java in JAVA_HOME, {tmp_path}/no-jdk: install a JDK 17 or newer." in done.stdout
    assert "no Spark session" in done.stdout


def test_explain_of_a_file(tmp_path: Path) -> None:
    query = tmp_path / "features.sql"
    query.write_text("""
        CREATE TABLE features USING parquet AS
        SELECT l.id, r.id AS found, sum(l.id) OVER (ORDER BY l.id) AS total
        FROM range(3) l LAST JOIN range(4) r ORDER BY r.id ON l.id = r.id;
    """)
    done = joinery("explain", query.name, "--conf", "spark.master=local[1]", folder=tmp_path, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "│" in line]
    assert any("window" in line and "Spark" in line and "only grow" in line for line in lines)
    assert any("join" in line and "BroadcastLastJoin" in line and "Joinery" in line for line in lines)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["features.sql"]  # the statement was not run


def test_explain_of_bad_sql_shows_the_place_and_no_stack_trace(tmp_path: Path) -> None:
    done = joinery("explain", "SELECT *\nFROM {{ ref('flights') }} f", folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Error: [PARSE_SYNTAX_ERROR]" in done.stderr
    assert "(line 2, pos 5)" in done.stderr
    assert "run `dbt compile`" in done.stderr
    assert "Traceback" not in done.stderr
    assert "\tat " not in done.stderr


def test_explain_tells_files_from_statements(tmp_path: Path) -> None:
    path = tmp_path / "query.sql"
    path.write_text("SELECT 1")
    assert read_statement(str(path)) == "SELECT 1"
    assert read_statement("SELECT 2") == "SELECT 2"
    with pytest.raises(InvalidArgumentError, match=r"There is no file nowhere\.sql\."):
        read_statement("nowhere.sql")
    with pytest.raises(InvalidArgumentError, match="no statement"):
        read_statement(" \n")


@pytest.mark.parametrize(
    ("statement", "operators"),
    [
        ("SELECT 1", []),
        ("SELECT l.id, r.id AS i FROM range(3) l LAST JOIN range(4) r USING (id)", ["BroadcastLastJoin"]),
        ("SELECT l.id FROM range(3) l LAST JOIN range(4) r USING (id)", []),  # no need to join
        ("SELECT * FROM range(3) l LAST JOIN range(4) r ON l.id < r.id JOIN range(2) x USING (id)", None),
        (
            "CREATE TEMPORARY VIEW v AS SELECT r.id FROM range(3) l LAST JOIN range(4) r USING (id)",
            ["BroadcastLastJoin"],
        ),
        ("SELECT (SELECT max(r.id) FROM range(3) l LAST JOIN range(4) r USING (id))", ["BroadcastLastJoin"]),
    ],
)
def test_plan_report(spark: SparkSession, statement: str, operators: list[str] | None) -> None:
    found = explain_sql(spark, statement)
    if operators is not None:
        assert [entry.operator for entry in found] == operators
    else:
        assert {entry.joinery for entry in found} == {True, False}
    assert all(entry.kind == "join" and entry.reason and entry.detail for entry in found)


def test_plan_report_says_why_joinery_declined(spark: SparkSession) -> None:
    assert_declined(spark, "SELECT * FROM range(3) a JOIN range(4) b USING (id)", "an ordinary join")
    with pytest.raises(AssertionError, match="no such reason"):
        assert_declined(spark, "SELECT * FROM range(3) a JOIN range(4) b USING (id)", "no reason like this one")
    with pytest.raises(AssertionError, match="no such reason"):
        assert_declined(spark, "SELECT * FROM range(3) a LAST JOIN range(4) b USING (id)", "")
