"""Drawn cases can be drawn again, written down and read back."""

from __future__ import annotations

import json
import random

import pytest

from fuzz.capability import Case
from fuzz.cases import CAPABILITIES
from fuzz.data import arrow, as_values
from fuzz.running import row_texts


def draw(name: str, seed: int) -> Case:
    rng = random.Random(seed)
    capability = CAPABILITIES[name]
    tables = capability.draw_tables(rng)
    query = capability.draw_query(rng, tables)
    variant = capability.draw_variant(rng, query)
    return {"capability": name, "tables": tables, "session": {}, "query": query, "variant": variant}


@pytest.mark.parametrize("name", CAPABILITIES)
def test_the_same_seed_draws_the_same_case(name: str) -> None:
    for seed in range(30):
        case = draw(name, seed)
        assert json.loads(json.dumps(case)) == draw(name, seed)
        assert CAPABILITIES[name].sql(case) != ""
        assert CAPABILITIES[name].oracle_sql(case) != ""
        for table in case["tables"].values():
            few = {**table, "rows": min(table["rows"], 40)}
            assert row_texts(arrow(few)) == row_texts(arrow(few))


@pytest.mark.parametrize("name", CAPABILITIES)
def test_seeds_differ(name: str) -> None:
    assert len({json.dumps(draw(name, seed)) for seed in range(20)}) == 20


def test_an_extreme_last_join_in_a_subquery_has_no_computed_bound() -> None:
    for seed in range(600):
        query = draw("last_join_extremes", seed)["query"]
        assert not (query.get("outer") and query.get("ansi"))


@pytest.mark.parametrize("name", ["last_join", "last_join_stored_cuts", "window", "window_stored_cuts"])
def test_some_tables_have_a_distribution_that_some_queries_are_ordered_by(name: str) -> None:
    ordered = 0
    for seed in range(100):
        case = draw(name, seed)
        known = [table["distribution"]["order"] for table in case["tables"].values() if "distribution" in table]
        ordered += any(term.split(".")[-1] in known for term, _ in case["query"]["order"][:1])
    assert ordered > (30 if "stored" in name else 0)


def test_a_table_has_what_suites_leave_out() -> None:
    ends = {"type": "int", "pool": "ends", "nulls": 0.2}
    table = {"seed": 1, "rows": 200, "files": 1, "columns": {"x": ends}}
    values = set(arrow(table)["x"].to_pylist())
    assert {None, -(2**31), 2**31 - 1} <= values


def test_a_table_as_sql() -> None:
    columns = {"x": {"type": "int", "pool": "one", "nulls": 0.0}, "d": {"type": "date", "pool": "one", "nulls": 0.0}}
    assert as_values({"seed": 1, "rows": 1, "files": 1, "columns": columns}) == (
        "SELECT * FROM VALUES\n  (CAST('1' AS int), date_from_unix_date(1))\n  AS t(x, d)"
    )
