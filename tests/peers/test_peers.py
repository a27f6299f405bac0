"""Tables and expected answers from other projects' tests of as-of joins and inequality joins.

Each file says where its tables come from. A case runs with each hint, with Joinery's operator in the plan, and in
stock Spark if that knows the syntax.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import DataFrame, SparkSession

FILES = [
    yaml.safe_load(file.read_text()) | {"file": file.stem} for file in sorted(Path(__file__).parent.glob("*.yaml"))
]
CASES = [pytest.param(file, case, id=f"{file['file']}: {case['name']}") for file in FILES for case in file["cases"]]
# The operator that each hint asks for, for as-of joins and for range joins.
AS_OF = {"": "BroadcastLastJoin", "/*+ BROADCAST(e) */": "BroadcastLastJoin", "/*+ MERGE(e) */": "SortMergeLastJoin"}
RANGE = {"": "RangeJoin", "/*+ BROADCAST(r) */": "BroadcastRangeJoin", "/*+ BROADCAST(l) */": "BroadcastRangeJoin"}
STOCK = {
    "spark.joinery.asofJoin.enabled": "false",
    "spark.joinery.rangeJoin.enabled": "false",
    "spark.sql.join.asofJoin.enabled": "true",
}


def text(value: Any) -> str:
    """Write a value as in the files."""
    if value is None:
        return "NULL"
    return str(value).lower() if isinstance(value, bool) else str(value)


def rows(answer: DataFrame) -> list[str]:
    """The rows of an answer as text, sorted."""
    return sorted(", ".join(map(text, row)) for row in answer.collect())


@pytest.fixture
def tables(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    """Create the tables of a case's file as views."""
    for name, query in request.getfixturevalue("file")["tables"].items():
        spark.sql(query if query.startswith("SELECT") else f"SELECT * FROM {query}").createOrReplaceTempView(name)


@pytest.mark.parametrize(("file", "case"), CASES)
def test_case_has_the_rows_that_its_project_expects(
    spark: SparkSession, file: dict[str, Any], case: dict[str, Any], tables: None
) -> None:
    query, expected = case["query"], sorted(case["rows"])
    forms = RANGE if file["file"] == "duckdb_ranges" else AS_OF

    def sql(hint: str) -> DataFrame:
        return spark.sql(query.format(hint=hint, **case.get("sizes", {})))

    for hint, operator in forms.items():
        answer = sql(hint)
        assert rows(answer) == expected, hint
        plan = answer._jdf.queryExecution().executedPlan().toString()
        assert operator in plan, plan
    if " LAST JOIN " in query:
        return  # stock Spark has no such syntax
    if " ASOF JOIN " in query and not spark.version.startswith("4.3"):
        return
    with_stock = {key: spark.conf.get(key) for key in STOCK}
    try:
        for key, value in STOCK.items():
            spark.conf.set(key, value)
        answer = sql("")
        assert rows(answer) == expected
        plan = answer._jdf.queryExecution().executedPlan().toString()
        assert not any(operator in plan for operator in forms.values()), plan
    finally:
        for key, value in with_stock.items():
            spark.conf.set(key, value)


def test_files_hold_the_cases_that_they_held() -> None:
    assert {file["file"]: len(file["cases"]) for file in FILES} == {
        "duckdb_asof": 35,
        "duckdb_ranges": 23,
        "quotes": 5,
        "spark_pit": 5,
    }
