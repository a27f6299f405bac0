"""A jar fits another patch version of its Spark line if that Spark has everything that the jar uses.

The tests copy the jar, and change its build version, or add a reference that this Spark lacks, as a vendor's Spark
might.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pyspark
import pytest
from spark_joinery import jar_path
from spark_joinery.jar import EXTENSION

pytestmark = pytest.mark.smoke

PROPERTIES, REFERENCES = "joinery.properties", "joinery-references.txt"
LACKING = {
    "method": "org/apache/spark/sql/catalyst/plans/logical/Join ofTheVendor ()V",
    "constructor": "org/apache/spark/sql/catalyst/plans/logical/Join <init> (I)V",
    "class": "org/apache/spark/sql/OfTheVendor",
}
LAST_JOIN = "SELECT count(*) FROM t LAST JOIN t r ORDER BY r.id ON t.id = r.id"
SCRIPT = """
import json, sys
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

settings, last_join = json.loads(sys.argv[1]), sys.argv[2]
spark = SparkSession.builder.config(map=settings).getOrCreate()
spark.range(3).createOrReplaceTempView("t")
try:
    joined = spark.sql(last_join).first()[0]
except PySparkException as error:
    joined = str(error)
functions = [r[0] for r in spark.sql("SHOW FUNCTIONS LIKE 'joinery*'").collect()]
print(json.dumps({"functions": functions, "joined": joined, "stock": spark.sql("SELECT sum(id) FROM t").first()[0]}))
"""


def patched(folder: Path, reference: str = "") -> Path:
    """Copy the jar as if it was built with another patch version, with one more reference to Spark if given."""
    jar = folder / "patched.jar"
    with zipfile.ZipFile(jar_path()) as built, zipfile.ZipFile(jar, "w") as copy:
        for name in built.namelist():
            content = built.read(name)
            if name == PROPERTIES:
                content = content.replace(f"spark={pyspark.__version__}".encode(), b"spark=4.0.99")
                assert b"spark=4.0.99" in content
            if name == REFERENCES and reference:
                content += f"{reference}\n".encode()
            copy.writestr(name, content)
    return jar


def answers(jar: Path) -> tuple[dict[str, object], list[str]]:
    """Ask a session with a jar; return its answers, and the warnings of Joinery in its log."""
    settings = {
        "spark.master": "local[1]",
        "spark.jars": str(jar),
        "spark.sql.extensions": EXTENSION,
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
    }
    command = [sys.executable, "-c", SCRIPT, json.dumps(settings), LAST_JOIN]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=jar.parent, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    warnings = [line for line in done.stderr.splitlines() if " WARN " in line and "Joinery" in line]
    return json.loads(done.stdout.splitlines()[-1]), warnings


def test_jar_lists_what_it_uses_of_spark() -> None:
    with zipfile.ZipFile(jar_path()) as jar:
        references = jar.read(REFERENCES).decode().splitlines()
    assert "org/apache/spark/sql/catalyst/plans/logical/Join" in references
    assert any(line.startswith("org/apache/spark/sql/catalyst/plans/logical/Join copy ") for line in references)
    assert not any("/joinery/" in line.split()[0] for line in references)


def test_spark_of_another_patch_version_that_has_all_gets_everything(tmp_path: Path) -> None:
    found, warnings = answers(patched(tmp_path))
    assert "joinery_version" in found["functions"]
    assert "joinery_misfit" not in found["functions"]
    assert (found["joined"], found["stock"], warnings) == (3, 3, [])


@pytest.mark.parametrize("kind", LACKING)
def test_spark_that_lacks_something_gets_nothing_and_one_warning(tmp_path: Path, kind: str) -> None:
    found, warnings = answers(patched(tmp_path, LACKING[kind]))
    (warning,) = warnings
    name = ".".join(LACKING[kind].replace("/", ".").split(" ")[:2])
    text = f"which lacks 1 of the classes and members that the jar uses, such as {name}."
    assert text in warning
    assert (found["functions"], found["stock"]) == (["joinery_misfit"], 3)
    assert "[PARSE_SYNTAX_ERROR]" in str(found["joined"])
    assert text in str(found["joined"])


@pytest.mark.parametrize(
    ("reference", "code", "text"), [("", 0, "has all that"), (LACKING["method"], 1, "which lacks 1")]
)
def test_check_spark_tells_without_a_session_whether_the_jar_fits(
    tmp_path: Path, reference: str, code: int, text: str
) -> None:
    jars = Path(pyspark.__file__).parent / "jars"
    classes = f"{patched(tmp_path, reference)}:{jars}/*"
    command = ["java", "-cp", classes, "io.github.sparkjoinery.guard.CheckSpark"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert text in done.stdout
