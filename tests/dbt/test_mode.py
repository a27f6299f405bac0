"""joinery_mode: what is rendered with the jar and without it, in real `dbt build`s."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.answers import assert_same_rows
from support.dbt_project import SCHEMA, Dbt, MacroError, write_project

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
ANSWERS = {
    "joined": f"""select f.*, max_by(c.since, c.since) as since, max_by(c.value, c.since) as value from {SCHEMA}.facts f
        left join {SCHEMA}.changes c on f.k = c.k and c.since <= f.at group by all""",
    "nested": f"select k, case k when 0 then 4L when 1 then 5L end as value from {SCHEMA}.facts where id > 9",
    "smoothed": f"""select *, count(*) over (partition by k order by at range between interval 5 minutes preceding
        and current row) as n from {SCHEMA}.facts""",
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
for mode in ("extension", "auto"):
    result = dbt.invoke("build", "--vars", f"joinery_mode: {mode}")
    print("MODE", mode, result.success, sorted(table.name for table in spark.catalog.listTables("dbt_tests")))
    print(*dbt.log, sep="\\n")
"""


@pytest.mark.parametrize(("mode", "rendered"), [("auto", "extension"), ("portable", "portable")])
def test_a_project_gives_the_same_rows_in_both_modes(
    spark: SparkSession, dbt: Dbt, tmp_path: Path, mode: str, rendered: str
) -> None:
    write_project(tmp_path, **MODELS)
    project = Dbt(tmp_path)
    assert project.invoke("deps").success, project.log
    result = project.invoke("build", "--full-refresh", "--vars", f"{{joinery_mode: {mode}, joinery_min_part_rows: 1}}")
    assert result.success, project.log
    # once in the run, though three models asked, in two threads
    assert len([line for line in project.log if f"joinery: {rendered} mode" in line]) == 1, project.log
    compiled = (tmp_path / "target" / "compiled" / "joinery_tests" / "models" / "nested.sql").read_text()
    assert ("last join" in compiled) == (rendered == "extension")
    for model, answer in ANSWERS.items():
        assert_same_rows(spark.table(f"{SCHEMA}.{model}"), spark.sql(answer))


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
    _, extension, auto = process.stdout.split("MODE ")
    assert extension.startswith("extension False []"), process.stdout
    assert "the Joinery jar is not loaded in this Spark session: set `spark.jars`" in extension
    assert auto.startswith("auto True ['changes', 'facts', 'joined', 'nested', 'smoothed']"), process.stdout
    assert auto.count("joinery: portable mode (joinery_mode: auto, jar not loaded)") == 1


def test_an_unknown_mode_is_named(dbt: Dbt) -> None:
    with pytest.raises(MacroError, match="var `joinery_mode` is 'native'; it takes auto, extension or portable"):
        dbt.render(
            "range_join", "native", left="l", right="r", left_point="v", right_interval=["s", "e"], columns=["x"]
        )
