"""Databricks' adapter, in an environment of its own, renders the macros as dbt-spark does in portable mode.

    make .venv-databricks/.stamp

There is no Databricks warehouse for these tests, so dbt only parses: it renders each model, and runs no query.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.dbt_project import PACKAGE, write_project
from support.integration_project import FOR_THE_JAR

pytestmark = [pytest.mark.dbt, pytest.mark.soak]
ROOT = PACKAGE.parent
PYTHONS = {"spark": Path(sys.executable), "databricks": ROOT / ".venv-databricks" / "bin" / "python"}
CALLS = {
    "known": """joinery.last_join(left=legs, right=fixes, on=['k'], as_of={'left': 'at', 'right': 'since',
        'tolerance': '2 days'}, columns=['v'])""",
    "latest": "joinery.last_join(left=legs, right=fixes, on=['k'], order_by=['since'], columns=['v'])",
    "several": """joinery.last_join(left=legs, right=[{'relation': fixes, 'prefix': 'a_'}, {'relation': fixes,
        'prefix': 'b_', 'on': ['j']}], on=['k'], as_of={'left': 'at', 'right': 'since'}, columns=['v'])""",
    "during": """joinery.range_join(left=legs, right=fixes, left_point='at', right_interval=['since', 'until'],
        columns=['v'])""",
    "of_few": "joinery.bloom_filter_join(left=legs, right=fixes, on=['k'], where='v = 1', columns=['v'])",
    "smooth": """joinery.skew_window(relation=legs, partition_by=['k'], order_by=['at'], frame={'type': 'range',
        'preceding': '2 hours'}, expressions=[{'name': 'n', 'expression': 'count(*)'}])""",
}
# While dbt parses, `source` is the model itself; a mark in the log says where a model's SQL ends.
MODEL = """{%% set legs, fixes = source('raw', 'legs'), source('raw', 'fixes') %%}
{%% do log('RENDERED' ~ %s ~ 'END', info=true) %%} select 1"""
TESTS = {
    "row_count_preserved": {"compare_model": "ref('latest')"},
    "intervals_do_not_overlap": {"start": "since", "end": "until"},
    "skew_below": {"partition_by": ["k"], "max_share": 0.5},
}
DATABRICKS = {
    "type": "databricks",
    "host": "databricks.example.com",
    "http_path": "/sql/1.0/warehouses/any",
    "token": "any",
    "schema": "dbt_tests",
    "threads": 1,
}


def rendered(adapter: str, folder: Path) -> list[str]:
    """The sorted SQL of all calls, as dbt renders it with an adapter."""
    folder.mkdir()
    write_project(folder, **{name: MODEL % call for name, call in CALLS.items()})
    if adapter == "databricks":
        profiles = {"tests": {"target": "tests", "outputs": {"tests": DATABRICKS}}}
        (folder / "profiles.yml").write_text(yaml.safe_dump(profiles))
    source = {"name": "raw", "schema": "raw", "tables": [{"name": "legs"}, {"name": "fixes"}]}
    tests = [{f"joinery.{name}": {"arguments": arguments}} for name, arguments in TESTS.items()]
    properties = {"sources": [source], "models": [{"name": "known", "data_tests": tests}]}
    (folder / "models" / "properties.yml").write_text(yaml.safe_dump(properties))
    output = ""
    for command in (["deps"], ["--warn-error", "parse", "--no-partial-parse"]):
        dbt = [str(PYTHONS[adapter].parent / "dbt"), "--no-use-colors", *command, "--profiles-dir", "."]
        done = subprocess.run(
            dbt, cwd=folder, env={**os.environ, "DO_NOT_TRACK": "1"}, capture_output=True, text=True, check=False
        )
        output = done.stdout + done.stderr
        assert done.returncode == 0, output
    assert f"adapter: {adapter}=" in output
    return sorted(text.split("END")[0] for text in output.split("RENDERED")[1:])


def test_the_adapter_renders_what_dbt_spark_renders(tmp_path: Path) -> None:
    assert PYTHONS["databricks"].exists(), "run `make .venv-databricks/.stamp`"
    of_databricks, of_spark = (rendered(adapter, tmp_path / adapter) for adapter in ("databricks", "spark"))
    assert len(of_databricks) == len(CALLS)
    assert [sql.replace("`hive_metastore`.", "") for sql in of_databricks] == of_spark
    assert not [text for text in FOR_THE_JAR for sql in of_databricks if text in sql.lower()]
