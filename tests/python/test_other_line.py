"""A jar for another Spark line than the session's names the right jar, refuses LAST JOIN and changes nothing else.

Runs on every line with the jars of all others:

    .venv-spark-4.1/bin/python -m pytest tests/python/test_other_line.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest
from spark_joinery import jar_path
from spark_joinery.jar import EXTENSION
from support.built_jars import other_lines

pytestmark = pytest.mark.smoke

RIGHT_JAR = jar_path().name
USING = "SELECT count(*) FROM l {} r USING (k)"
STATEMENTS = {
    "last": USING.format("LAST JOIN"),
    "aliased left side": "SELECT * FROM l a LAST JOIN r ORDER BY r.t ON a.k = r.k",
    "natural": "SELECT * FROM l NATURAL LAST JOIN r",
    "nested": "CREATE TEMPORARY VIEW v AS WITH c AS (SELECT * FROM l LAST JOIN r USING (k)) SELECT * FROM c",
    "script": f"BEGIN {USING.format('LAST JOIN')}; END",
    "immediate": f"EXECUTE IMMEDIATE '{USING.format('LAST JOIN')}'",
    "variable": "SELECT count(*) FROM l ${words} r USING (k)",
    "asof": "SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.t >= r.t) USING (k)",
    "left asof": "SELECT * FROM l a LEFT ASOF JOIN r MATCH_CONDITION (a.t >= r.t)",
    "string and comment": "SELECT 'l LAST JOIN r' /* l ASOF JOIN r MATCH_CONDITION (l.t >= r.t) */",
    "alias": USING.format("AS last JOIN"),
    "alias asof": USING.format("asof JOIN"),
    "table": "SELECT count(*) FROM last JOIN r USING (k)",
    "joins": "SELECT count(*) FROM l LEFT JOIN r ON l.k = r.k AND r.t BETWEEN 0 AND l.t",
    "windows": "SELECT sum(s) FROM (SELECT sum(t) OVER (PARTITION BY k ORDER BY t) AS s FROM l)",
    "syntax error": "SELECT * FROM (l",
}
SCRIPT = """
import json, sys
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from spark_joinery import JoineryError, last_join
from spark_joinery.cli.doctor import check_jar
from spark_joinery.plan_report import explain_dataframe

statements, settings = map(json.loads, sys.argv[1:])
spark = SparkSession.builder.config(map=settings).getOrCreate()
said = {}

def say(name, call):
    try:
        said[name] = call()
    except (PySparkException, JoineryError) as error:
        said[name] = f"{type(error).__name__}: {str(error).strip()}"

def row(session, text, **arguments):
    return str(tuple(session.sql(text, **arguments).first()))

for session in (spark, spark.newSession()):
    for view in ("l", "last"):
        session.range(4).selectExpr("id % 3 AS k", "id AS t").createOrReplaceTempView(view)
    session.range(6).selectExpr("id % 2 AS k", "id AS t").createOrReplaceTempView("r")
    session.conf.set("words", "LAST JOIN")
say("in a new session", lambda: row(session, statements["last"]))
for name, text in statements.items():
    say(name, lambda: row(spark, text))
say("parameters", lambda: row(spark, "SELECT :n + 1", args={"n": 1}))
say("last with parameters", lambda: row(spark, statements["last"] + " WHERE k = :n", args={"n": 1}))
say("data frames", lambda: str(last_join(spark.table("l"), spark.table("r"), on="k").count()))
say("explain", lambda: str(explain_dataframe(spark.table("l"))))
say("doctor", lambda: "\\n".join(check.detail for check in [check_jar(spark)] if check.status == "fail"))
say("functions", lambda: [r[0] for r in spark.sql("SHOW FUNCTIONS LIKE 'joinery*'").collect()])
spark.conf.set("spark.joinery.lastJoin.enabled", "false")
say("switched off", lambda: row(spark, statements["last"]))
print(json.dumps(said))
"""


@dataclass(frozen=True)
class Session:
    """A session with a wrong jar, with the jar's line, the answers by name of statement, and the log."""

    wrong_line: str
    answers: dict[str, str]
    log: list[str]


@pytest.fixture(scope="module", params=other_lines())
def misfit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    settings = {
        "spark.master": "local[1]",
        "spark.jars": str(jar_path(request.param)),
        "spark.sql.extensions": EXTENSION,
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
    }
    command = [sys.executable, "-c", SCRIPT, json.dumps(STATEMENTS), json.dumps(settings)]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    folder: Path = tmp_path_factory.mktemp("misfit")
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return Session(request.param, json.loads(done.stdout.splitlines()[-1]), done.stderr.splitlines())


def test_log_of_a_misfit_has_one_warning_with_the_right_jar(misfit: Session) -> None:
    (warning,) = [line for line in misfit.log if " WARN " in line and "Joinery" in line]
    assert f"Joinery's jar for Spark {misfit.wrong_line} does not fit Spark {pyspark.__version__}" in warning
    assert f"Load {RIGHT_JAR} in its place, or use the portable mode of the dbt macros" in warning
    assert not any("NoSuchMethodError" in line for line in misfit.log)


REFUSED = ["last", "aliased left side", "natural", "nested", "script", "variable", "asof", "left asof"]
if not pyspark.__version__.startswith("3."):
    REFUSED.append("immediate")  # Spark 3.5 has no EXECUTE IMMEDIATE


@pytest.mark.parametrize("name", [*REFUSED, "in a new session", "last with parameters"])
def test_statement_with_last_or_asof_join_is_refused_with_the_right_jar(misfit: Session, name: str) -> None:
    assert misfit.answers[name].startswith("ParseException: [PARSE_SYNTAX_ERROR]"), misfit.answers[name]
    assert f"Load {RIGHT_JAR}" in misfit.answers[name]
    assert ("'ASOF'" if "asof" in name else "'LAST'") in misfit.answers[name]


def test_other_statements_of_a_misfit_run_on_stock_spark(misfit: Session) -> None:
    answers = misfit.answers
    assert answers["string and comment"] == "('l LAST JOIN r',)"
    assert [answers[name] for name in ("alias", "alias asof", "table", "switched off")] == ["(9,)"] * 4
    assert (answers["joins"], answers["windows"], answers["parameters"]) == ("(5,)", "(6,)", "(2,)")
    assert answers["syntax error"].startswith("ParseException: [PARSE_SYNTAX_ERROR]")
    assert "Joinery" not in answers["syntax error"]


def test_python_and_doctor_say_why_the_loaded_jar_does_nothing(misfit: Session) -> None:
    assert misfit.answers["functions"] == ["joinery_misfit"]
    for name in ("data frames", "explain", "doctor"):
        assert f"Load {RIGHT_JAR}" in misfit.answers[name], misfit.answers[name]
    assert misfit.answers["data frames"].startswith("JarNotLoadedError: last_join: ")
