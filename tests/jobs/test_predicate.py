"""Predicates whose meaning changes by itself, such as `d < now()`, are found by their text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from spark_joinery.jobs.builders.predicate import changes_by_its_text, changes_by_itself

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "where_text.json").read_text(encoding="utf-8"))
COLUMNS = {"status": "string", "d": "date", "Current_Flag": "string", "user": "string", "k": "int"}


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda vector: str(vector["input"]))
def test_golden_vectors(vector: dict[str, Any]) -> None:
    assert bool(changes_by_its_text(vector["input"])) is vector["changes"]


@pytest.mark.parametrize(
    ("where", "part"),
    [
        ("d < date'today'", "date 'today'"),
        ("d < 'today'", "'today'"),
        ("k < cast('tomorrow' AS date)", "'tomorrow'"),
        ("d < now()", "now()"),
        ("`now` ( ) > d", "now()"),
        ("system.builtin.now() > d", "now()"),
        ("current_date > d", "current_date"),
        ("current_user = status", "current_user"),
        ("rand /* of */ () < 0.5", "rand()"),
        ("unix_timestamp() > k", "unix_timestamp()"),
        ("k < ${limit}", "${limit}"),
    ],
)
def test_what_changes_by_itself(where: str, part: str) -> None:
    assert changes_by_itself(where, COLUMNS) == part


@pytest.mark.parametrize(
    "where",
    [
        "current_flag = 'Y'",
        "status = 'now'",
        "status IN ('today', 'now()', 'rand()') AND k > 1",
        "user = 'x' -- not current_user",
        '`current_flag` = "current_date" /* now() */',
        "d < date'2013-01-01'",
        "unix_timestamp(d) > k",
        "now = 1",
        "d > date 'epoch'",
    ],
)
def test_innocent_words(where: str) -> None:
    assert changes_by_itself(where, COLUMNS) is None
