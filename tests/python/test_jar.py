"""Finding the jar and adding it to a session's configuration."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import spark_joinery
from packaging.requirements import Requirement
from pyspark.sql import SparkSession
from spark_joinery import JoineryError, JoineryWarning, configure_spark, jar, jar_path
from spark_joinery.errors import JarNotFoundError, UnsupportedSparkError
from spark_joinery.jar import of_defaults

ROOT = Path(__file__).parents[2]
VERSIONS = json.loads((ROOT / "jvm/spark-versions.json").read_text())
OURS = "io.github.sparkjoinery.JoineryExtensions"
EXTENSIONS = "spark.sql.extensions"


def run_python(code: str, environment: Mapping[str, str] | None = None) -> str:
    """Run code in a new interpreter, so that it sees no Spark session or import of this one."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **(environment or {})}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_jar_of_the_installed_pyspark() -> None:
    path = jar_path()
    assert path.is_file()
    assert path.name == f"spark-joinery-{VERSIONS['default']}_2.13-{spark_joinery.__version__}.jar"


@pytest.mark.parametrize("suffix", ["", ".0", ".7-vendor-3"])
def test_jar_of_a_named_version(suffix: str) -> None:
    assert jar_path(VERSIONS["default"] + suffix) == jar_path()


@pytest.mark.parametrize("version", ["3.4.1", "4.30.0", "latest"])
def test_unsupported_version_names_the_supported_ones(version: str) -> None:
    with pytest.raises(UnsupportedSparkError, match=re.escape(f"no jar for Spark {version}.")) as raised:
        jar_path(version)
    assert isinstance(raised.value, JoineryError)
    for line in VERSIONS["versions"]:
        assert line in str(raised.value)
    assert "in portable mode (var joinery_mode: auto or portable)" in str(raised.value)


def test_extra_spark_accepts_the_lines_that_have_a_jar_and_no_other() -> None:
    extra = re.search(r'^spark = \["(pyspark[^"]+)"\]$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert extra is not None
    accepted = {
        line for line in ("3.5", "4.0", "4.1", "4.2", "4.3", "4.4") if f"{line}.1" in Requirement(extra[1]).specifier
    }
    assert accepted == set(VERSIONS["versions"])


def test_jar_that_was_not_built_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jar, "_PACKAGE", tmp_path)  # no jars here
    with pytest.raises(JarNotFoundError, match="make jar"):
        jar_path(VERSIONS["default"])


def test_import_needs_neither_pyspark_nor_airflow_nor_dbt() -> None:
    message = run_python(
        """
        import sys
        for name in ("pyspark", "airflow", "dbt"):
            sys.modules[name] = None  # as if it were not installed
        import spark_joinery, spark_joinery.cli, spark_joinery.metadata
        try:
            spark_joinery.jar_path()
        except spark_joinery.JoineryError as error:
            print(error)
        """.replace("\n        ", "\n")
    )
    assert "pyspark is not installed" in message
    assert VERSIONS["default"] in message


def test_jar_and_package_have_the_same_version() -> None:
    pom = (ROOT / "jvm/pom.xml").read_text()
    found = re.search(r"<artifactId>(spark-joinery)</artifactId>\s*<!--.*-->\s*<version>\$\{revision\}<", pom)
    assert found is not None


def test_extension_and_jar_are_appended() -> None:
    builder = SparkSession.builder.config("spark.jars", "delta.jar, storage.jar")
    builder.config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    assert configure_spark(builder) is builder
    assert builder._options["spark.jars"] == f"delta.jar,storage.jar,{jar_path()}"
    assert builder._options["spark.sql.extensions"] == f"io.delta.sql.DeltaSparkSessionExtension,{OURS}"


def test_configuring_twice_adds_once() -> None:
    builder = SparkSession.builder.config("spark.jars", "a.jar").config("spark.sql.extensions", "a.Extension")
    configure_spark(configure_spark(builder))
    assert builder._options["spark.jars"] == f"a.jar,{jar_path()}"
    assert builder._options["spark.sql.extensions"] == f"a.Extension,{OURS}"


@pytest.mark.parametrize("spelling", [str, Path.as_uri])
def test_the_jar_is_not_named_twice(spelling: Callable[[Path], str]) -> None:
    named = f"a.jar,{spelling(jar_path())}"
    assert jar.settings_with_joinery({"spark.jars": named})["spark.jars"] == named


def test_what_runs_in_this_process_is_none_of_a_new_ones_business(spark: SparkSession) -> None:
    assert jar.settings_with_joinery({}, of_new_process=True) == {"spark.jars": str(jar_path()), EXTENSIONS: OURS}


PRINT_OPTIONS = """
from pyspark.sql import SparkSession
from spark_joinery import configure_spark
print("extensions:", configure_spark(SparkSession.builder)._options.get("spark.sql.extensions"))
"""


def test_spark_defaults_are_extended_not_replaced(tmp_path: Path) -> None:
    defaults = "# settings of the cluster\nspark.master local[1]\nspark.sql.extensions   org.example.Theirs\n"
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    printed = run_python(PRINT_OPTIONS, {"SPARK_CONF_DIR": str(tmp_path)})
    assert printed == f"extensions: org.example.Theirs,{OURS}"


def test_spark_defaults_are_read_as_spark_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["# r\xe9seau \\", "spark.jars /a.jar,\\", "   /b.jar", "spark.sql.extensions=org.example.Theirs", ""]
    (tmp_path / "spark-defaults.conf").write_bytes("\r\n".join(lines).encode("latin-1"))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert of_defaults("spark.jars") == "/a.jar,/b.jar"
    assert of_defaults("spark.sql.extensions") == "org.example.Theirs"


def test_settings_of_spark_submit_are_extended_not_replaced(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(PRINT_OPTIONS)
    submit = Path(sys.executable).parent / "spark-submit"
    command = [str(submit), "--conf", "spark.sql.extensions=org.example.Theirs", str(script)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYSPARK_PYTHON": sys.executable}
    )
    assert f"extensions: org.example.Theirs,{OURS}" in done.stdout


def test_a_remote_server_must_load_the_jar_itself() -> None:
    builder = SparkSession.builder.config("spark.remote", "sc://cluster:15002")
    with pytest.warns(JoineryWarning, match=r"server at sc://cluster:15002 must load Joinery itself: .*--jars"):
        assert configure_spark(builder) is builder
    assert "spark.sql.extensions" not in builder._options


def test_a_local_connect_server_gets_the_jar() -> None:
    builder = configure_spark(SparkSession.builder.config("spark.remote", "local[2]").config("spark.jars", "a.jar"))
    assert builder._options["spark.jars"] == f"a.jar,{jar_path()}"
