"""The var joinery_mode decides the rendered SQL, with and without the jar, in real `dbt build`s."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
import yaml
from spark_joinery import __version__, jar_path
from spark_joinery.cli.dbt_mode import ask_dbt
from spark_joinery.cli.doctor import check_project
from spark_joinery.errors import JoineryError
from spark_joinery.jar import EXTENSION
from support.built_jars import other_lines
from support.dbt_project import PACKAGE, SCHEMA, Dbt, MacroError, write_project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt
MODELS = {
    "facts": "select id, id % 3 as k, timestamp_seconds(id * 60) as at from range(30)",
    "changes": "select id % 2 as k, timestamp_seconds(id * 300) as since, id as value from range(9)",
    "joined": "{{ joinery.last_join(ref('facts'), ref('changes'), ['k'], as_of={'left': 'at', 'right': 'since'}) }}",
    # a CTE, an ephemeral model, and a macro inside a larger query
    "few": "{{ config(materialized='ephemeral') }} select * from {{ ref('changes') }} where value < 6",
    "nested": """
        with late as (select * from {{ ref('facts') }} where id > 9), joined as (
            {{ joinery.last_join(left='late', right=ref('few'), on=['k'], order_by=['since'], columns=['value']) }})
        select k, value from joined""",
    "smoothed": """{{ joinery.skew_window(ref('facts'), ['k'], ['at'], {'type': 'range', 'preceding': '5 minutes'},
        [{'name': 'n', 'expression': 'count(*)'}]) }}""",
}
WITHOUT_JAR = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from support.dbt_project import Dbt

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
builder = builder.config("spark.sql.catalogImplementation", "in-memory").config("spark.sql.shuffle.partitions", "2")
spark = builder.config("spark.sql.warehouse.dir", sys.argv[2]).getOrCreate()
dbt = Dbt(Path(sys.argv[1]))
for mode, command in (("extension", "build"), ("extension", "compile"), ("auto", "build")):
    result = dbt.invoke(command, "--vars", f"joinery_mode: {mode}")
    print("MODE", mode, result.success, sorted(table.name for table in spark.catalog.listTables("dbt_tests")))
    print(*dbt.log, sep="\\n")
"""


def test_without_the_jar_extension_fails_before_any_model_and_auto_is_portable(tmp_path: Path) -> None:
    write_project(tmp_path, **MODELS)
    project = Dbt(tmp_path)
    assert project.invoke("deps").success, project.log
    process = subprocess.run(
        [sys.executable, "-c", WITHOUT_JAR, str(tmp_path), str(tmp_path / "warehouse")],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    _, extension, compiled, auto = process.stdout.split("MODE ")
    for run in (extension, compiled):  # only `build` runs hooks
        assert run.startswith("extension False []"), process.stdout
        assert "the Joinery jar is not loaded in this Spark session: set `spark.jars`" in run
    assert auto.startswith("auto True ['changes', 'facts', 'joined', 'nested', 'smoothed']"), process.stdout
    assert auto.count("joinery: portable mode (joinery_mode: auto, jar not loaded)") == 1


def test_check_mode_with_a_jar_of_another_spark_names_the_right_one(tmp_path: Path) -> None:
    """`auto` renders portable SQL and warns, `extension` fails; the doctor fails for both, as the jar is not in use."""
    project = write_vars(tmp_path, {"joinery_mode": "auto"})
    other = other_lines()[0]
    profile = tmp_path / "profiles.yml"
    loading = {
        "spark.jars": str(jar_path(other)),
        "spark.sql.extensions": EXTENSION,
        "spark.sql.catalogImplementation": "in-memory",
    }
    profile.write_text(
        profile.read_text().replace("host: NA", f"host: NA\n      server_side_parameters: {json.dumps(loading)}")
    )
    why = f"joinery: Joinery's jar for Spark {other} does not fit Spark {pyspark.__version__}"
    with pytest.raises(JoineryError, match=re.escape(why)) as auto:
        ask_dbt(project.folder)
    assert f"Load {jar_path().name} in its place" in str(auto.value)
    path = tmp_path / "dbt_project.yml"
    path.write_text(path.read_text().replace("joinery_mode: auto", "joinery_mode: extension"))
    with pytest.raises(JoineryError, match=r"joinery_mode` is 'extension', but Joinery's jar for Spark"):
        ask_dbt(project.folder)


def test_an_unknown_mode_is_named(dbt: Dbt) -> None:
    with pytest.raises(MacroError, match="var `joinery_mode` is 'native'; it takes auto, extension or portable"):
        dbt.render(
            "range_join", "native", left="l", right="r", left_point="v", right_interval=["s", "e"], columns=["x"]
        )


def test_the_mode_is_said_with_its_reason_and_all_versions(dbt: Dbt) -> None:
    for mode, reason in (("auto", f"jar {__version__} loaded"), ("portable", "jar not asked for")):
        result = dbt.invoke("run-operation", "joinery.check_mode", "--vars", f"joinery_mode: {mode}")
        assert result.success, dbt.log
        rendered = "extension" if mode == "auto" else mode
        versions = f"Spark {pyspark.__version__}, package {__version__}"
        assert f"joinery: {rendered} mode (joinery_mode: {mode}, {reason}); {versions}" in dbt.log


def test_the_package_knows_its_version(dbt: Dbt) -> None:
    declared = yaml.safe_load((PACKAGE / "dbt_project.yml").read_text())["version"]
    assert dbt.render("package_version") == declared == __version__


@pytest.mark.parametrize(
    ("jar", "spark_version", "problem"),
    [
        ("0.1.0", "4.3.0", "None"),
        ("0.1.7", "4.0.1", "None"),
        (None, "4.1.0", "None"),
        ("0.2.0", "4.3.0", "the Joinery jar is of version 0.2.0, this dbt package of 0.1.0: install both"),
        (None, "3.5.6", "None"),
        (None, "3.4.4", "Spark is of version 3.4.4, and this package renders SQL for 3.5 or later"),
    ],
)
def test_versions_that_do_not_fit(dbt: Dbt, jar: str | None, spark_version: str, problem: str) -> None:
    assert dbt.render("versions_misfit", jar=jar, spark=spark_version).startswith(problem)


def write_vars(folder: Path, variables: dict[str, Any], **settings: Any) -> Dbt:
    """A project with these vars in dbt_project.yml, and one model, which selects its mode."""
    write_project(
        folder, said="select '{{ joinery.mode() }}' as mode, '{{ joinery.setting(\"joinery_schema\") }}' as name"
    )
    path = folder / "dbt_project.yml"
    path.write_text(path.read_text() + yaml.safe_dump({"vars": variables, **settings}))
    project = Dbt(folder)
    assert project.invoke("deps").success, project.log
    return project


def test_vars_under_the_name_of_the_package_reach_models_and_hooks(
    spark: SparkSession, dbt: Dbt, tmp_path: Path
) -> None:
    project = write_vars(tmp_path, {"joinery": {"joinery_mode": "portable", "joinery_schema": "statistics"}})
    assert project.invoke("build").success, project.log
    assert [tuple(row) for row in spark.table(f"{SCHEMA}.said").collect()] == [("portable", "statistics")]
    assert len([line for line in project.log if "joinery: portable mode (joinery_mode: portable" in line]) == 1


def test_two_modes_in_one_run_are_refused(dbt: Dbt, tmp_path: Path) -> None:
    project = write_vars(tmp_path, {"joinery_mode": "auto", "joinery": {"joinery_mode": "portable"}})
    assert not project.invoke("build").success
    assert "var `joinery_mode` is 'auto' here and 'portable' elsewhere in this run" in "".join(project.log)


def test_a_user_may_override_a_macro(dbt: Dbt, tmp_path: Path) -> None:
    order = {"macro_namespace": "joinery", "search_order": ["joinery_tests", "joinery"]}
    project = write_vars(tmp_path, {}, dispatch=[order])
    mine = "{% macro spark__last_join(left, right) %}select {{ left }} by {{ kwargs.on[0] }}{% endmacro %}"
    (tmp_path / "macros" / "mine.sql").write_text(mine)
    assert project.render("last_join", left="l", right="r", on=["k"]) == "select l by k"


def test_doctor_says_the_mode_of_a_project(tmp_path: Path) -> None:
    project = write_vars(tmp_path, {"joinery_mode": "native"})
    with pytest.raises(JoineryError, match="var `joinery_mode` is 'native'; it takes auto, extension or portable"):
        ask_dbt(project.folder)
    for name, old, new in (
        ("dbt_project.yml", "joinery_mode: native", "joinery_mode: auto"),
        (
            "profiles.yml",
            "host: NA",
            "host: NA\n      server_side_parameters: {spark.sql.catalogImplementation: in-memory,"
            " spark.joinery.store: artifacts, spark.sql.shuffle.partitions: '77'}",
        ),
    ):
        path = tmp_path / name
        path.write_text(path.read_text().replace(old, new))
    mode, store, advice = check_project(project.folder, {})
    assert mode.status == "ok"
    assert mode.detail.startswith("portable mode (joinery_mode: auto, jar not loaded); Spark ")
    # the store's path is relative to the project, and the advice is about the project's own session
    assert store.status == "info"
    assert store.detail == f"file:{tmp_path}/artifacts does not exist yet; `joinery refresh` creates it."
    assert advice.detail.startswith("spark.sql.shuffle.partitions is set to 77. Without it")


def test_doctor_of_what_is_no_project(tmp_path: Path) -> None:
    (check,) = check_project(tmp_path, {})
    assert check.detail == f"{tmp_path} has no dbt_project.yml: name the folder of a dbt project."
    assert check.status == "fail"


def test_doctor_without_dbt_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: any")
    monkeypatch.setitem(sys.modules, "dbt", None)  # as if dbt were not installed
    (check,) = check_project(tmp_path, {})
    assert check.detail == "dbt is not installed: pip install 'spark-joinery[dbt]'"
