"""The package in a project whose target is not Spark, and in one whose macros have the same names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.dbt_project import Dbt, write_project

pytestmark = pytest.mark.dbt
JOIN = "joinery.last_join(left=ref('legs'), right=ref('fixes'), on=['k'], order_by=['v'], columns=['v'])"
PLAIN = {"legs": "select 1 as k", "fixes": "select 1 as k, 2 as v"}
# Names of the package's internal macros, and of implementations that dispatch would look for.
OWN = ("mode", "fail", "column", "quoted", "spark__mode", "default__mode", "default__jar_is_loaded", "spark__watermark")


@pytest.fixture
def duckdb_project(tmp_path: Path) -> Path:
    """A project for DuckDB, with models that call the package only if the target is Spark."""
    mixed = "{{ config(enabled=target.type == 'spark') }} {{ " + JOIN + " }}"
    write_project(
        tmp_path,
        **PLAIN,
        known=mixed,
        several=f"{{% if target.type == 'spark' %}}{{{{ {JOIN} }}}}{{% else %}}select 1 as k{{% endif %}}",
    )
    output = {"type": "duckdb", "path": str(tmp_path / "tests.duckdb")}
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump({"tests": {"target": "tests", "outputs": {"tests": output}}}))
    return tmp_path


def dbt(folder: Path, *command: str) -> tuple[int, str]:
    """Run dbt in a process of its own; returns its exit code and its output."""
    program = str(Path(sys.executable).parent / "dbt")
    done = subprocess.run(
        [program, "--no-use-colors", "--no-send-anonymous-usage-stats", *command, "--profiles-dir", "."],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_build_on_duckdb_leaves_the_package_idle_and_calls_fail_clearly(duckdb_project: Path) -> None:
    assert dbt(duckdb_project, "deps")[0] == 0
    status, said = dbt(duckdb_project, "build")
    assert status == 0, said
    assert "PASS=5 " in said, said  # three models and two hooks

    (duckdb_project / "models" / "called.sql").write_text(f"{{{{ {JOIN} }}}}")
    tests = [{"joinery.skew_below": {"arguments": {"partition_by": ["k"], "max_share": 0.9}}}]
    models = [{"name": "several", "data_tests": tests}]
    (duckdb_project / "models" / "properties.yml").write_text(yaml.safe_dump({"models": models}))
    status, said = dbt(duckdb_project, "build")
    assert status == 1, said
    for macro in ("last_join", "skew_below"):
        assert f"joinery.{macro} writes SQL for Spark, but the adapter of this target is duckdb" in said, said
    assert "PASS=5 " in said, said  # three models and two hooks


def test_name_of_a_distribution_has_the_catalog_of_the_relation(duckdb_project: Path) -> None:
    """Relations have a catalog on Databricks, and on DuckDB. The name equals Python's, from tests/golden."""
    (duckdb_project / "macros" / "named.sql").write_text("""{% macro named() %}
      {% set flights = api.Relation.create(database='lake', schema='raw', identifier='flights') %}
      {% set schema = joinery.catalog_and_schema(flights) %}
      {% do log(joinery.distribution_table_name(schema, 'flights', ['carrier'], 'departs_at'), info=true) %}
    {% endmacro %}""")
    assert dbt(duckdb_project, "deps")[0] == 0
    status, said = dbt(duckdb_project, "run-operation", "named")
    assert status == 0, said
    assert "dist_flights_51e81da0" in said, said


def test_macros_of_the_project_do_not_take_the_place_of_internal_ones(spark: object, tmp_path: Path) -> None:
    write_project(tmp_path, **PLAIN)
    for name in OWN:
        (tmp_path / "macros" / f"{name}.sql").write_text(
            f"{{% macro {name}() %}}{{% do exceptions.raise_compiler_error('{name} of the project') %}}{{% endmacro %}}"
        )
    # a project may replace a public macro
    (tmp_path / "macros" / "replaced.sql").write_text(
        "{% macro spark__range_join() %}select {{ kwargs | length }}{% endmacro %}"
    )
    project = Dbt(tmp_path)
    assert project.invoke("deps").success, project.log
    assert "last_first" in project.render("last_join", left="l", right="r", on=["k"], order_by=["v"], columns=["v"])
    assert project.invoke("run-operation", "joinery.check_mode").success, project.log
    assert project.render("range_join", left="l", right="r").startswith("select ")


@pytest.mark.parametrize(("checks", "said"), [(True, True), (False, False)])
def test_var_joinery_checks_switches_the_hooks(spark: object, tmp_path: Path, checks: bool, said: bool) -> None:
    write_project(tmp_path, legs=PLAIN["legs"])
    project = Dbt(tmp_path)
    assert project.invoke("deps").success, project.log
    assert project.invoke("run", "--vars", yaml.safe_dump({"joinery_checks": checks})).success, project.log
    assert any(" mode (joinery_mode: auto" in line for line in project.log) is said
