"""`lookback` makes an incremental run give the rows of a full refresh, and leaves older partitions alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from support.answers import assert_same_rows
from support.dbt_project import SCHEMA, Dbt, write_project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt
BY_DAY = "materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['day']"
LOOKBACK = "{'reach': '20 hours', 'whole': 'day'}"
SOURCE, CHANGES = "source('raw', 'facts')", "source('raw', 'changes')"


def by_day(macro: str, config: str = BY_DAY) -> str:
    """An incremental model of a macro's rows, with a partition for each day."""
    return f"{{{{ config({config}) }}}} with rows as ({{{{ {macro} }}}}) select *, date(at) as day from rows"


def last_join(lookback: str = LOOKBACK) -> str:
    """A call of `joinery.last_join`."""
    return f"""joinery.last_join(left={SOURCE}, right=[{{'relation': {CHANGES}, 'prefix': 'c_'}},
        {{'relation': {CHANGES}, 'prefix': 'd_', 'on': [{{'left': 'j', 'right': 'k'}}]}}],
        on=['k'], columns=['value'], as_of={{'left': 'at', 'right': 'since'}}, lookback={lookback})"""


def window(frame: dict[str, Any], order: list[Any]) -> str:
    """A call of `joinery.skew_window`."""
    expressions = [{"name": "n", "expression": "count(id)"}, {"name": "least", "expression": "min(id)"}]
    return f"""joinery.skew_window(relation={SOURCE}, partition_by=['k'], order_by={order}, frame={frame},
        expressions={expressions}, lookback={LOOKBACK})"""


MODELS = {
    "joined": by_day(last_join()),
    "last_rows": by_day(
        window({"type": "rows", "preceding": 7}, [{"column": "at", "nulls": "last"}, "id"]),
    ),
    "all_rows": by_day(
        window({"type": "rows", "preceding": "unbounded"}, [{"column": "at", "nulls": "last"}, "id"]),
    ),
    "last_hours": by_day(
        window({"type": "range", "preceding": "30 hours", "following": "2 hours"}, ["at"]),
    ),
}
OVER = "select *, count(id) over w as n, min(id) over w as least, date(at) as day from facts window w as"
ANSWERS = {
    "joined": """select f.*,
        (select max_by(value, since) from changes c where c.k = f.k and c.since <= f.at) as c_value,
        (select max_by(value, since) from changes c where c.k = f.j and c.since <= f.at) as d_value, date(at) as day
        from facts f""",
    "last_rows": f"{OVER} (partition by k order by at nulls last, id rows between 7 preceding and current row)",
    "all_rows": f"{OVER} (partition by k order by at nulls last, id rows between unbounded preceding and current row)",
    "last_hours": f"""{OVER} (partition by k order by at range between interval 30 hours preceding
        and interval 2 hours following)""",
}
# The newest row of the first run is of 4 January, 23:00. Rows may come up to 20 hours late, so the second run
# begins at the start of 4 January. This is early enough for frames that look ahead by two hours, too.
LATE = "timestamp'2024-01-04 03:00'"
FIRST = {
    "facts": f"""select * from all_facts where at < {LATE} or (at < timestamp'2024-01-05' and id % 10 <> 3)
        or (at is null and id % 4 = 0)""",
    "changes": f"""select * from all_changes where since < {LATE}
        or (since < timestamp'2024-01-05' and value % 5 <> 2)""",
}
ALL = {name: f"select * from all_{name}" for name in FIRST}


def load(spark: SparkSession, queries: dict[str, str]) -> None:
    """Create the sources as tables with the rows of the queries."""
    spark.sql("""create or replace temporary view all_facts as
        select id, if(id % 13 = 0, null, id % 3) as k, id % 4 as j,
            if(id % 17 = 0, null, timestamp'2024-01-01' + id * interval 1 hour) as at
        from range(150)""")
    spark.sql("""create or replace temporary view all_changes as
        select id % 4 as k, timestamp'2024-01-01' + id * interval 150 minutes as since, id as value from range(60)""")
    for name, query in queries.items():
        spark.sql(f"drop table if exists {SCHEMA}.{name}")
        spark.sql(f"create table {SCHEMA}.{name} using parquet as {query}")


def sources(**others: Any) -> str:
    """YAML properties that declare the sources, and other properties."""
    tables = [{"name": name} for name in FIRST]
    return yaml.safe_dump({"sources": [{"name": "raw", "schema": SCHEMA, "tables": tables}], **others})


def unit_tests() -> list[dict[str, Any]]:
    """Unit tests of incremental runs: a model with one row computes only the newest days, an empty one all days."""
    times = [f"2024-01-0{day} 12:00:00" for day in (1, 2, 3, 4)]
    facts = [{"id": number, "k": 1, "j": 2, "at": at} for number, at in enumerate(times)]
    changes = [{"k": k, "since": at, "value": k * 10 + number} for k in (1, 2) for number, at in enumerate(times)]
    given = [{"input": SOURCE, "rows": facts}, {"input": CHANGES, "rows": changes}]
    answers = {
        "joined": [{"id": number, "c_value": 10 + number, "d_value": 20 + number} for number in range(4)],
        "last_rows": [{"id": number, "n": number + 1, "least": 0} for number in range(4)],
        "last_hours": [{"id": number, "n": min(number + 1, 2), "least": max(number - 1, 0)} for number in range(4)],
    }
    inputs = {"joined": given, "last_rows": given[:1], "last_hours": given[:1]}
    return [
        {
            "name": f"{model}_{name}",
            "model": model,
            "overrides": {"macros": {"is_incremental": True}},
            "given": [*inputs[model], {"input": "this", "rows": rows}],
            "expect": {"rows": answer[begins:]},
        }
        for model, answer in answers.items()
        for name, rows, begins in (("of_a_day", [{"at": "2024-01-04 10:00:00"}], 2), ("of_all", [], 0))
    ]


@pytest.fixture(scope="module")
def project(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Dbt:
    """A project with all models."""
    folder = tmp_path_factory.mktemp("incremental")
    write_project(folder, **MODELS)
    (folder / "models" / "sources.yml").write_text(sources(unit_tests=unit_tests()))
    project = Dbt(folder)
    assert project.invoke("deps").success, project.log
    return project


def files(spark: SparkSession, model: str, days: str) -> set[str]:
    """The files of a model's partitions on one side of 4 January; `days` is a comparison operator."""
    query = f"select distinct _metadata.file_path from {SCHEMA}.{model} where day {days} date'2024-01-04'"
    return {row[0] for row in spark.sql(query).collect()}


@pytest.mark.parametrize("mode", ["portable", "extension"])
def test_incremental_runs_equal_a_full_refresh(spark: SparkSession, project: Dbt, mode: str) -> None:
    variables = ["--vars", f"{{joinery_mode: {mode}, joinery_min_part_rows: 1}}"]
    load(spark, FIRST)
    assert project.invoke("run", "--full-refresh", *variables).success, project.log
    old = {model: files(spark, model, "<") for model in MODELS}
    new = {model: files(spark, model, ">=") for model in MODELS}
    load(spark, ALL)
    assert project.invoke("run", *variables).success, project.log
    begins = "cast('2024-01-04 00:00:00' as timestamp)"
    assert len([query for query in project.queries if begins in query]) == len(MODELS)
    for model, answer in ANSWERS.items():
        for name in FIRST:
            answer = answer.replace(f"from {name}", f"from {SCHEMA}.{name}")
        assert_same_rows(spark.table(f"{SCHEMA}.{model}"), spark.sql(answer))
        assert old[model] == files(spark, model, "<")
        assert new[model].isdisjoint(files(spark, model, ">="))


def test_unit_tests_of_incremental_runs(spark: SparkSession, project: Dbt) -> None:
    load(spark, {name: f"{query} limit 5" for name, query in ALL.items()})
    assert project.invoke("run", "--full-refresh", "--exclude", "all_rows").success, project.log
    run = project.invoke("test", "--select", "test_type:unit")
    assert run.success, project.log
    statuses = [str(one.status) for one in run.result.results if one.node.resource_type == "unit_test"]
    assert statuses == ["pass"] * len(unit_tests())


def test_a_unit_test_without_rows_of_the_model_is_told_what_it_lacks(
    spark: SparkSession, dbt: Dbt, tmp_path: Path
) -> None:
    first = unit_tests()[0]
    write_project(tmp_path, joined=MODELS["joined"])
    (tmp_path / "models" / "sources.yml").write_text(sources(unit_tests=[first | {"given": first["given"][:2]}]))
    project = Dbt(tmp_path)
    assert project.invoke("deps").success, project.log
    load(spark, {name: f"{query} limit 5" for name, query in ALL.items()})
    assert project.invoke("run", "--full-refresh").success, project.log
    assert not project.invoke("test", "--select", "test_type:unit").success
    assert "`lookback` needs `input: this` among what a unit test of an incremental run is given" in "\n".join(
        project.log
    )


def test_a_model_without_rows_is_computed_in_full(spark: SparkSession, project: Dbt) -> None:
    load(spark, {name: f"{query} limit 0" for name, query in ALL.items()})
    assert project.invoke("run", "--full-refresh", "--select", "joined").success, project.log
    load(spark, ALL)
    assert project.invoke("run", "--select", "joined").success, project.log
    assert spark.table(f"{SCHEMA}.joined").count() == 150


# each type's SQL of a time by its number, its lookback, and its partition
TIMES = {
    "date": ("date_add(date'2024-01-25', {})", "{'reach': '1 day', 'whole': 'month'}", "date_format({}, 'yyyy-MM')"),
    "decimal": ("cast({} as decimal(10, 2))", "1.5", "{}"),
    "timestamp_ntz": ("timestamp_ntz'2024-01-01' + make_dt_interval({})", "'2 days'", "{}"),
}


def test_times_of_other_types_under_odd_names(spark: SparkSession, dbt: Dbt, tmp_path: Path) -> None:
    time = "`gesehen für alle`"  # dbt-spark itself cannot insert into a column with a backtick
    call = """joinery.last_join(left=source('raw', 'seen_{0}'), right=source('raw', 'known_{0}'), on=['k'],
        as_of={{'left': 'gesehen für alle', 'right': 'since'}}, order_by=['since', 'v'], columns=['v'],
        lookback={1})"""
    models = {
        name: f"""{{{{ config({BY_DAY.replace("day", "p")}) }}}} with rows as ({{{{ {call.format(name, lookback)} }}}})
            select *, {part.format(time)} as p from rows"""
        for name, (_, lookback, part) in TIMES.items()
    }
    write_project(tmp_path, **models)
    tables = [{"name": f"{kind}_{name}"} for name in TIMES for kind in ("seen", "known")]
    declared = {"sources": [{"name": "raw", "schema": SCHEMA, "tables": tables}]}
    (tmp_path / "models" / "sources.yml").write_text(yaml.safe_dump(declared))
    project = Dbt(tmp_path)
    assert project.invoke("deps").success, project.log
    for days, options in ((9, ["--full-refresh"]), (12, [])):
        for name, (sql, *_) in TIMES.items():
            number = sql.format("int(id div 3)")
            spark.sql(f"""create or replace view {SCHEMA}.seen_{name} as select id % 2 as k, {number} as {time}, id
                from range({3 * days})""")
            spark.sql(f"""create or replace view {SCHEMA}.known_{name} as select id % 2 as k, {number} as since, id as v
                from range({3 * days}) where {days} = 12 or id <> 24""")
        assert project.invoke("run", *options).success, project.log
    for name in TIMES:
        latest = f"select max_by(v, struct(since, v)) from {SCHEMA}.known_{name} r where r.k = l.k and since <= {time}"
        expected = spark.sql(f"select *, ({latest}) as v from {SCHEMA}.seen_{name} l")
        assert_same_rows(spark.table(f"{SCHEMA}.{name}").drop("p"), expected)


WRONG = {
    "appended": (
        by_day(last_join(), "materialized='incremental'"),
        "`lookback` needs an `incremental_strategy` that replaces rows (merge, insert_overwrite, delete+insert, "
        "replace_where, microbatch), but is used with append",
    ),
    "unpartitioned": (
        by_day(last_join(), "materialized='incremental', incremental_strategy='insert_overwrite'"),
        "`lookback` needs `partition_by` under `incremental_strategy` insert_overwrite",
    ),
    "unkeyed": (
        by_day(last_join(), "materialized='incremental', incremental_strategy='merge', file_format='delta'"),
        "`lookback` needs `unique_key` under `incremental_strategy` merge",
    ),
    "timeless": (
        by_day(last_join()).replace("select *, date(at)", "select c_value, date(at)"),
        "`lookback` needs the column `at` in the model itself, whose newest row says where to begin",
    ),
}


def test_what_would_lose_or_repeat_rows_is_refused(spark: SparkSession, dbt: Dbt, tmp_path: Path) -> None:
    write_project(tmp_path, **{name: model for name, (model, _) in WRONG.items()})
    (tmp_path / "models" / "sources.yml").write_text(sources())
    project = Dbt(tmp_path)
    assert project.invoke("deps").success, project.log
    load(spark, ALL)
    project.invoke("run")  # the last model only fails in its second run, the first incremental one
    assert not project.invoke("run").success
    messages = "\n".join(project.log)
    for name, (_, problem) in WRONG.items():
        assert problem in messages, (name, messages)
