"""The command `joinery` as a user runs it, in a process that starts Spark itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from spark_joinery import __version__, jar_path
from spark_joinery.cli import COMMANDS, advice, doctor, main
from spark_joinery.cli.explain import read_statement
from spark_joinery.errors import InvalidArgumentError
from spark_joinery.plan_report import explain_sql
from support.answers import assert_declined
from support.documentation import ROOT


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


WITHOUT_SPARK = """
import json, sys
sys.modules["pyspark"] = sys.modules["py4j"] = None
from click.testing import CliRunner
from spark_joinery.cli import main
for arguments in json.loads(sys.argv[1]):
    done = CliRunner(env={"COLUMNS": "200"}).invoke(main, arguments)
    print(json.dumps([arguments[0], done.exit_code, done.output, repr(done.exception)]))
"""


def test_without_pyspark_every_command_names_the_extra(tmp_path: Path) -> None:
    """Commands that need Spark name the extra. A local store is read without Spark."""
    far, near = "hdfs://nowhere/store", tmp_path / "store"
    near.mkdir()
    needing = [
        ["doctor"],
        ["explain", "SELECT 1"],
        ["list", "--store", far],
        ["refresh", "--store", str(near)],
        ["report", "--store", str(near)],
        ["show", "flights", "--store", far],
        ["vacuum", "--store", far],
    ]
    assert sorted(arguments[0] for arguments in needing) == sorted(COMMANDS)
    command = [sys.executable, "-c", WITHOUT_SPARK, json.dumps([*needing, ["list", "--store", str(near)]])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    *outcomes, without_need = map(json.loads, done.stdout.splitlines())
    for name, code, output, exception in outcomes:
        assert "pyspark is not installed: pip install 'spark-joinery[spark]'" in output, (name, output, exception)
        assert code == (1 if name == "doctor" else 2)
        assert "Traceback" not in output
    assert without_need[1:3] == [0, "No artifact.\n"]


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


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("a-file", "file:{root} is a file: an artifact store is a folder."),
        ("none", "file:{root} does not exist; `joinery refresh` creates it."),
        ("store[1]", "The artifact store file:{root} has a [ in its path: Spark takes that for a pattern"),
    ],
)
def test_doctor_refuses_what_is_no_store(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, detail: str
) -> None:
    monkeypatch.setattr(doctor, "spark_session", lambda confs: nullcontext(spark))
    (tmp_path / "a-file").touch()
    (tmp_path / "store[1]").mkdir()
    checks = {check.name: check for check in doctor.check_session({}, str(tmp_path / name))}
    assert checks["store"].status == "fail"
    assert checks["store"].detail.startswith(detail.format(root=tmp_path / name))


def test_doctor_of_a_projects_store_passes_before_its_first_refresh(tmp_path: Path) -> None:
    root = tmp_path / "store"
    none = doctor.check_project_store(str(root), {})
    assert (none.status, none.detail) == ("info", f"file:{root} does not exist yet; `joinery refresh` creates it.")
    (root / "distribution").mkdir(parents=True)
    full = doctor.check_project_store(f"file:{root}", {})
    assert (full.status, full.detail) == ("ok", f"file:{root}: distribution")
    (tmp_path / "a-file").touch()
    file = doctor.check_project_store(str(tmp_path / "a-file"), {})
    assert (file.status, file.detail) == ("fail", f"file:{tmp_path}/a-file is a file: an artifact store is a folder.")


def test_doctor_advises_against_a_number_of_shuffle_partitions() -> None:
    assert advice.partitions_advice(200) is None
    text = advice.partitions_advice(8) or ""
    assert text.startswith("spark.sql.shuffle.partitions is set to 8. Without it")


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


def test_explain_of_a_constant_that_fails(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark computes constants during planning."""
    monkeypatch.setattr("spark_joinery.cli.explain.spark_session", lambda confs: nullcontext(spark))
    done = CliRunner().invoke(main, ["explain", "SELECT a.id + CAST('x' AS INT) FROM range(2) a"])
    assert done.exit_code == 2
    assert "Error: [CAST_INVALID_INPUT] " in done.output


def test_explain_of_two_joins_tells_them_apart(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_joinery.cli.explain.spark_session", lambda confs: nullcontext(spark))
    monkeypatch.setenv("COLUMNS", "200")
    query = """SELECT * FROM (SELECT id AS flight, id % 7 AS origin FROM range(2000000000)) f
        LAST JOIN (SELECT id AS station FROM range(5)) w ORDER BY w.station ON f.origin = w.station
        LAST JOIN (SELECT id AS plane FROM range(3000000000)) p ORDER BY p.plane ON f.flight = p.plane"""
    shown = " ".join(CliRunner().invoke(main, ["explain", query]).output.replace("│", " ").split())
    assert "[origin], [station], [station ASC NULLS FIRST]" in shown
    assert "[flight], [plane], [plane ASC NULLS FIRST]" in shown
    assert "(22.4 GiB, limit" in shown
    assert "bytes" not in shown
    assert "#" not in shown


def test_explain_tells_files_from_statements(tmp_path: Path) -> None:
    path = tmp_path / "query.sql"
    path.write_text("SELECT 1")
    assert read_statement(str(path)) == "SELECT 1"
    assert read_statement("SELECT 2") == "SELECT 2"
    with pytest.raises(InvalidArgumentError, match=r"There is no file nowhere\.sql\."):
        read_statement("nowhere.sql")
    with pytest.raises(InvalidArgumentError, match="no statement"):
        read_statement(" \n")


@pytest.mark.parametrize("length", [300, 1000, 10_000])
def test_explain_takes_a_statement_in_one_line_for_no_file(length: int) -> None:
    """A file's name has at most 255 bytes, and looking for a longer one is an error."""
    statement = f"SELECT {'x' * length}"
    assert read_statement(statement) == statement


def test_explain_of_a_file_that_is_no_text_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "query.sql"
    path.write_bytes("SELECT 'é'".encode("latin-1"))
    with pytest.raises(InvalidArgumentError, match=r"query\.sql is not UTF-8 \(.*, at byte 8\): save it so\.$"):
        read_statement(str(path))
    path.write_text("SELECT 1", encoding="utf-8-sig")
    assert read_statement(str(path)) == "SELECT 1"


@pytest.mark.parametrize(
    ("statement", "operators"),
    [
        ("SELECT 1", []),
        ("SELECT l.id, r.id AS i FROM range(3) l LAST JOIN range(4) r USING (id)", ["BroadcastLastJoin"]),
        ("SELECT l.id FROM range(3) l LAST JOIN range(4) r USING (id)", []),  # the join is not needed
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


def test_the_documented_example_of_explain_shows_what_its_page_says(spark: SparkSession) -> None:
    section = (ROOT / "docs/reference/cli.md").read_text().split("## joinery explain")[1].split("\n## ")[0]
    [statement] = re.findall(r'joinery explain "(.+)"', section)
    [entry] = explain_sql(spark, statement)
    assert entry.joinery
    assert f"`{entry.operator}`" in section
    assert entry.reason.startswith("the right side is small")
    assert "*the right side is small*" in section


def test_plan_report_says_why_no_filter_was_built(spark: SparkSession) -> None:
    settings = {
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
    }
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        spark.sql("CREATE TABLE legs USING parquet AS SELECT hash(id) AS a, id % 100 AS b FROM range(300000)")
        spark.sql("CREATE TABLE kinds USING parquet AS SELECT id AS b, concat('T', id) AS kind FROM range(100)")
        days = "SELECT k.kind, l.a % 50 AS day, count(*) AS c FROM legs l JOIN kinds k ON l.b = k.b "
        days += "WHERE k.kind LIKE 'T%' GROUP BY ALL"
        found = explain_sql(
            spark,
            f"WITH days AS ({days}) SELECT a.c, b.c AS d FROM days a "
            "JOIN days b ON a.day = b.day AND a.kind = upper(b.kind)",
        )
    finally:
        for table in ("legs", "kinds"):
            spark.sql(f"DROP TABLE IF EXISTS {table}")
        for key in settings:
            spark.conf.unset(key)
    reasons = [entry.reason for entry in found]
    assert any(reason.startswith("no filter is built: to wait for") for reason in reasons), reasons
    assert any("rows are dropped by a filter of the keys of" in reason for reason in reasons), reasons


def test_plan_report_says_why_joinery_declined(spark: SparkSession) -> None:
    assert_declined(spark, "SELECT * FROM range(3) a JOIN range(4) b USING (id)", "an ordinary join")
    with pytest.raises(AssertionError, match="no such reason"):
        assert_declined(spark, "SELECT * FROM range(3) a JOIN range(4) b USING (id)", "no reason like this one")
    with pytest.raises(AssertionError, match="no such reason"):
        assert_declined(spark, "SELECT * FROM range(3) a LAST JOIN range(4) b USING (id)", "")
