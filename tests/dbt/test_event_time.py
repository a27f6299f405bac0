"""Rows under dbt's filters by event time, in microbatch models and with `--sample`, equal those of a full run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from support.answers import assert_same_rows
from support.dbt_project import SCHEMA, Dbt, write_project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt
FLIGHTS, WEATHER, STORMS, PLANES, ROUTES = (
    "ref('flights')",
    "source('air', 'weather')",
    "ref('storms')",
    "source('air', 'planes')",
    "source('air', 'routes')",
)
AS_OF = "as_of={'left': 'at', 'right': 'since'}"
FRAME = "partition_by=['k'], expressions=[{'name': 'n', 'expression': 'count(id)'}]"
CALLS = {
    "known": f"""joinery.last_join({FLIGHTS}, [{{'relation': {WEATHER}, 'prefix': 'a_'}},
        {{'relation': {WEATHER}, 'prefix': 'b_', 'as_of': {{'left': 'at', 'right': 'since', 'tolerance': '3 hours'}}}}],
        on=['k'], columns=['v'], {AS_OF})""",
    "latest": f"joinery.last_join({FLIGHTS}, {WEATHER}, on=['k'], columns=['v'], order_by=['since'])",
    "rendered": f"joinery.last_join({FLIGHTS}, {WEATHER}.render(), on=['k'], {AS_OF})",
    "stormy": f"""joinery.range_join({FLIGHTS}, {STORMS}, left_point='at', right_interval=['starts', 'ends'],
        columns=['storm'])""",
    "calm": f"joinery.range_join({FLIGHTS}, {STORMS}, left_point='at', right_interval=['starts', 'ends'], how='anti')",
    "all_flights": f"""joinery.range_join({STORMS}, {FLIGHTS}, right_point='at', left_interval=['starts', 'ends'],
        how='right', columns=['id', 'at'])""",
    "of_few": f"joinery.bloom_filter_join({FLIGHTS}, {PLANES}, on=['k'], columns=['plane'])",
    "of_routes": f"joinery.bloom_filter_join({ROUTES}, {FLIGHTS}, on=['k'], columns=['id', 'at'])",
    "rows_before": f"""joinery.skew_window({FLIGHTS}, order_by=['at'], {FRAME},
        frame={{'type': 'rows', 'preceding': 4}})""",
    "hours_around": f"""joinery.skew_window({FLIGHTS}, order_by=['at'], frame={{'type': 'range',
        'preceding': '5 hours', 'following': '2 hours'}}, {FRAME})""",
    "rows_after": f"""joinery.skew_window({FLIGHTS}, order_by=[{{'column': 'at', 'direction': 'desc'}}],
        frame={{'type': 'rows', 'preceding': 2, 'following': 3}}, {FRAME})""",
    "by_number": f"joinery.skew_window({FLIGHTS}, order_by=['id'], frame={{'type': 'rows', 'preceding': 3}}, {FRAME})",
}
LATEST = "select f.*, (select max_by(v, since) from weather w where w.k = f.k and since <= f.at{}) as {} from flights f"
OVER = "select *, count(id) over (partition by k order by {}) as n from flights"
ANSWERS = {
    "known": f"""select a.*, b_v from ({LATEST.format("", "a_v")}) a
        join ({LATEST.format(" and since >= f.at - interval 3 hours", "b_v")}) b on a.id = b.id""",
    "latest": "select f.*, (select max_by(v, since) from weather w where w.k = f.k) as v from flights f",
    "rendered": f"""select r.id, r.k, r.at, w.since, w.v from ({LATEST.format("", "v")}) r
        left join weather w on r.v = w.v""",
    "stormy": "select f.*, storm from flights f join storms on at between starts and ends",
    "calm": "select f.* from flights f left anti join storms on at between starts and ends",
    "all_flights": "select s.*, f.id, f.at from storms s right join flights f on at between starts and ends",
    "of_few": "select f.*, plane from flights f join planes p on f.k = p.k",
    "of_routes": "select r.*, f.id, f.at from routes r join flights f on f.k = r.k",
    "rows_before": OVER.format("at rows between 4 preceding and current row"),
    "hours_around": OVER.format("at range between interval 5 hours preceding and interval 2 hours following"),
    "rows_after": OVER.format("at desc rows between 2 preceding and 3 following"),
    "by_number": OVER.format("id rows between 3 preceding and current row"),
}
BATCHES = "incremental_strategy='microbatch', batch_size='day', begin='2024-01-01', lookback=0, partition_by=['day']"
CONFIG = f"{{{{ config(materialized='incremental', event_time='at', {BATCHES}) }}}}"
TABLE = "{{ config(materialized='table', event_time='%s') }} select * from {{ source('air', 'all_%s') }}"
HOUR = "timestamp'2024-01-01' + id * interval 1 hour"


def project_of(folder: Path, **models: str) -> Dbt:
    """A project whose inputs all have an event time, except routes."""
    write_project(folder, flights=TABLE % ("at", "flights"), storms=TABLE % ("starts", "storms"), **models)
    tables = [{"name": name} for name in ("all_flights", "all_storms", "routes")]
    tables += [
        {"name": name, "config": {"event_time": time}} for name, time in (("weather", "since"), ("planes", "at"))
    ]
    sources = {"sources": [{"name": "air", "schema": SCHEMA, "tables": tables}]}
    (folder / "models" / "sources.yml").write_text(yaml.safe_dump(sources))
    project = Dbt(folder)
    assert project.invoke("deps").success, project.log
    return project


@pytest.fixture(scope="module")
def project(spark: SparkSession, dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Dbt:
    """Three days of flights, many with a last weather, a storm or a plane of another day."""
    for name, query in {
        "all_flights": f"select int(id) as id, int(id % 3) as k, {HOUR} as at from range(72)",
        "weather": f"select int(id % 3) as k, {HOUR} as since, int(id) as v from range(-2, 72, 7)",
        "all_storms": f"""select id as storm, {HOUR} as starts, {HOUR} + interval 9 hours as ends
            from range(-5, 72, 20)""",
        "planes": f"select int(id) as k, {HOUR} as at, id as plane from range(2)",
        "routes": "select int(id) as k, id as route from range(2)",
    }.items():
        spark.sql(f"drop table if exists {SCHEMA}.{name}")
        spark.sql(f"create table {SCHEMA}.{name} using parquet as {query}")
    models = {
        name: f"{CONFIG} with t as ({{{{ {call} }}}}) select *, date(at) as day from t" for name, call in CALLS.items()
    }
    project = project_of(tmp_path_factory.mktemp("event_time"), **models)
    assert project.invoke("run", "--select", "flights", "storms").success, project.log
    return project


def assert_answers(spark: SparkSession, where: str) -> None:
    """Compare each model with the answer of stock Spark over whole tables."""
    for model, answer in ANSWERS.items():
        query = re.sub(r"(from|join) (\w+)", rf"\1 {SCHEMA}.\2", answer)
        expected = spark.sql(query).where(where)
        assert_same_rows(spark.table(f"{SCHEMA}.{model}").drop("day"), expected)


@pytest.mark.parametrize("mode", ["portable", "extension"])
def test_microbatch_gives_the_rows_of_a_full_run(spark: SparkSession, project: Dbt, mode: str) -> None:
    variables = ["--vars", f"{{joinery_mode: {mode}, joinery_min_part_rows: 1}}"]
    period = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04"]
    run = project.invoke("run", "--full-refresh", "--select", *CALLS, *period, *variables)
    assert run.success, project.log
    assert_answers(spark, "true")


def test_sample_gives_its_rows_of_a_full_run(spark: SparkSession, project: Dbt) -> None:
    sample = ["--sample", "{'start': '2024-01-02', 'end': '2024-01-03'}"]
    assert project.invoke("run", "--full-refresh", "--select", *CALLS, *sample).success, project.log
    assert_answers(spark, "date(at) = date'2024-01-02'")


def test_what_is_read_whole_is_said_once(project: Dbt) -> None:
    sample = ["--sample", "{'start': '2024-01-02', 'end': '2024-01-03'}"]
    assert project.invoke("run", "--full-refresh", "--select", "known", *sample).success, project.log
    said = "joinery: known: last_join reads dbt_tests.weather whole, without dbt's filter by event time"
    assert project.log.count(said) == 1


def test_full_join_of_a_sample_is_refused_unless_both_sides_are_rendered(
    spark: SparkSession, project: Dbt, tmp_path: Path
) -> None:
    join = "{{{{ joinery.range_join({}, {}, left_point='at', right_interval=['starts', 'ends'], how='full') }}}}"
    whole = join.format(f"{FLIGHTS}.render()", f"{STORMS}.render()")
    other = project_of(tmp_path, filtered=join.format(FLIGHTS, STORMS), whole=whole)
    sample = ["--sample", "{'start': '2024-01-02', 'end': '2024-01-03'}"]
    assert not other.invoke("run", "--select", "filtered", "whole", *sample).success
    assert "argument `how` must not be full where dbt filters a side by event time" in "\n".join(other.log)
    answer = f"select * from {SCHEMA}.flights full join {SCHEMA}.storms on at between starts and ends"
    assert_same_rows(spark.table(f"{SCHEMA}.whole"), spark.sql(answer))


def test_lookback_leaves_microbatch_to_its_batches(spark: SparkSession, project: Dbt, tmp_path: Path) -> None:
    join = f"joinery.last_join({FLIGHTS}, {WEATHER}, on=['k'], columns=['v'], {AS_OF}, lookback='1 day')"
    other = project_of(tmp_path, late=f"{CONFIG} with t as ({{{{ {join} }}}}) select *, date(at) as day from t")
    for end in ("2024-01-04", "2024-01-02"):  # the second run repeats a day before the newest row
        period = ["--event-time-start", "2024-01-01", "--event-time-end", end]
        assert other.invoke("run", "--select", "late", *period).success, other.log
    assert [line for line in other.log if "late: `lookback` of last_join does nothing" in line]
    expected = spark.sql(re.sub(r"(from|join) (\w+)", rf"\1 {SCHEMA}.\2", LATEST.format("", "v")))
    assert_same_rows(spark.table(f"{SCHEMA}.late").drop("day"), expected)
