"""Models that call the macros work as views, with appended rows, `--empty`, unit tests, and dbt docs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from support.answers import assert_same_rows
from support.dbt_project import SCHEMA, Dbt, write_project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt
LEGS, FIXES, STORMS = (f"source('air', '{name}')" for name in ("legs", "fixes", "gales"))
AS_OF = "as_of={'left': 'at', 'right': 'since'}"
LAST_JOIN = f"joinery.last_join(left={LEGS}, right={FIXES}, on=['k'], {AS_OF}"
MODELS = {
    "known": f"{{{{ {LAST_JOIN}, columns=['since', 'v']) }}}}",  # a view
    # append adds rows and never changes them, so a match that comes late is not picked up
    "appended": f"""{{{{ config(materialized='incremental', incremental_strategy='append') }}}}
        with new as (
            select * from {{{{ {LEGS} }}}}
            {{% if is_incremental() %}} where at > (select max(at) from {{{{ this }}}}) {{% endif %}})
        {{{{ joinery.last_join(left='new', right={FIXES}, on=['k'], {AS_OF}, columns=['v']) }}}}""",
    "during": f"""{{{{ config(materialized='table') }}}}
        {{{{ joinery.range_join(left={LEGS}, right={STORMS}, left_point='at', right_interval=['a', 'z'],
            columns=['storm']) }}}}""",
    "of_few": f"""{{{{ config(materialized='table') }}}}
        {{{{ joinery.bloom_filter_join(left={LEGS}, right={FIXES}, on=['k'], where='v > 6', columns=['v']) }}}}""",
    "smooth": f"""{{{{ config(materialized='table') }}}}
        {{{{ joinery.skew_window(relation={LEGS}, partition_by=['k'], order_by=['at'], frame={{'type': 'rows',
            'preceding': 2}}, expressions=[{{'name': 'n', 'expression': 'sum(id)'}}]) }}}}""",
}
DECLARED = {"distributions": [{"partition_by": ["k"], "order_by": "at", "quantiles": 8}]}


def properties() -> str:
    """YAML properties with the sources and the unit tests."""
    tables: list[dict[str, Any]] = [{"name": name} for name in ("legs", "fixes", "gales")]
    tables[0]["config"] = {"meta": {"joinery": DECLARED}}
    legs = {"input": LEGS, "rows": [{"id": 1, "k": 1, "at": 10}, {"id": 2, "k": 2, "at": 5}]}
    fixes = {"input": FIXES, "rows": [{"k": k, "since": t, "v": t} for k, t in ((1, 9), (1, 11), (2, 6))]}
    known = [{"id": 1, "k": 1, "at": 10, "since": 9, "v": 9}, {"id": 2, "k": 2, "at": 5, "since": None, "v": None}]
    few = [{"id": 1, "k": 1, "at": 10, "v": 9}, {"id": 1, "k": 1, "at": 10, "v": 11}]
    gales = {"input": STORMS, "rows": [{"storm": "S", "a": 5, "z": 9}]}
    unit_tests = [
        {"name": "known_in_time", "model": "known", "given": [legs, fixes], "expect": {"rows": known}},
        {"name": "few_keys", "model": "of_few", "given": [legs, fixes], "expect": {"rows": few}},
        {
            "name": "only_new_rows",
            "model": "appended",
            "overrides": {"macros": {"is_incremental": True}},
            "given": [legs, fixes, {"input": "this", "rows": [{"id": 2, "k": 2, "at": 5, "v": 1}]}],
            "expect": {"rows": [{"id": 1, "k": 1, "at": 10, "v": 9}]},
        },
        {
            "name": "in_a_storm",
            "model": "during",
            "given": [legs, gales],
            "expect": {"rows": [{"id": 2, "k": 2, "at": 5, "storm": "S"}]},
        },
        {
            "name": "sums",
            "model": "smooth",
            "given": [legs],
            "expect": {"rows": [{"id": 1, "k": 1, "at": 10, "n": 1}, {"id": 2, "k": 2, "at": 5, "n": 2}]},
        },
    ]
    source = {"name": "air", "schema": SCHEMA, "tables": tables}
    return yaml.safe_dump({"sources": [source], "unit_tests": unit_tests}, sort_keys=False)


@pytest.fixture(scope="module")
def project(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Dbt:
    """A project with all models."""
    folder = tmp_path_factory.mktemp("materializations")
    write_project(folder, **MODELS)
    (folder / "models" / "properties.yml").write_text(properties())
    project = Dbt(folder)
    assert project.invoke("deps").success, project.log
    return project


def load(spark: SparkSession, rows: int) -> None:
    """Create the sources with a number of rows."""
    for name, query in (
        ("legs", f"select int(id) as id, int(id % 3) as k, int(id) as at from range({rows})"),
        ("fixes", f"select int(id % 3) as k, int(id) as since, int(id % 8) as v from range({rows})"),
        ("gales", "select 'S' as storm, 5 as a, 9 as z"),
    ):
        spark.sql(f"drop table if exists {SCHEMA}.{name}")
        spark.sql(f"create table {SCHEMA}.{name} using parquet as {query}")


@pytest.mark.parametrize("mode", ["portable", "extension"])
def test_empty_then_unit_tests_then_built_and_appended(spark: SparkSession, project: Dbt, mode: str) -> None:
    variables = ["--vars", f"{{joinery_mode: {mode}, joinery_min_part_rows: 1}}"]
    load(spark, 20)
    assert project.invoke("run", "--empty", "--full-refresh", *variables).success, project.log
    columns = {model: spark.table(f"{SCHEMA}.{model}").columns for model in MODELS}
    assert all(spark.table(f"{SCHEMA}.{model}").isEmpty() for model in MODELS)
    run = project.invoke("test", "--select", "test_type:unit", *variables)
    assert run.success, project.log
    unit_tests = [one for one in run.result.results if one.node.resource_type == "unit_test"]
    assert [str(one.status) for one in unit_tests] == ["pass"] * len(MODELS)
    assert project.invoke("run", "--full-refresh", *variables).success, project.log
    load(spark, 30)
    assert project.invoke("run", "--select", "known", "appended", *variables).success, project.log
    last = f"select id, k, at, (select max_by(v, since) from {SCHEMA}.fixes f where f.k = l.k and since <= at) as v"
    answers = {
        "known": f"{last} from {SCHEMA}.legs l",
        "appended": f"{last} from {SCHEMA}.legs l",
        "during": f"select *, 'S' as storm from {SCHEMA}.legs where at between 5 and 9",
        "of_few": f"""select l.*, v from {SCHEMA}.legs l join {SCHEMA}.fixes f on l.k = f.k
            where v > 6 and at < 20 and since < 20""",
        "smooth": f"""select *, sum(id) over (partition by k order by at rows between 2 preceding and current row) as n
            from {SCHEMA}.legs where at < 20""",
    }
    assert spark.table(f"{SCHEMA}.appended").count() == 30
    for model, answer in answers.items():
        found = spark.table(f"{SCHEMA}.{model}")
        assert found.columns == columns[model]
        assert_same_rows(found.drop("since") if model == "known" else found, spark.sql(answer))


def test_dbt_docs_show_what_is_declared_and_each_argument(spark: SparkSession, project: Dbt) -> None:
    load(spark, 5)
    assert project.invoke("run", "--full-refresh").success, project.log
    assert project.invoke("docs", "generate").success, project.log
    manifest, catalog = (
        json.loads((project.folder / "target" / f"{name}.json").read_text()) for name in ("manifest", "catalog")
    )
    legs = manifest["sources"]["source.joinery_tests.air.legs"]
    assert legs["meta"]["joinery"] == legs["config"]["meta"]["joinery"] == DECLARED
    assert set(catalog["nodes"]) == {f"model.joinery_tests.{name}" for name in MODELS}
    assert list(catalog["nodes"]["model.joinery_tests.smooth"]["columns"]) == ["id", "k", "at", "n"]
    for macro in ("last_join", "range_join", "bloom_filter_join", "skew_window"):
        shown = manifest["macros"][f"macro.joinery.{macro}"]
        assert shown["docs"]["show"]
        assert all(argument["type"] and argument["description"] for argument in shown["arguments"])
