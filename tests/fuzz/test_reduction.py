"""A failing case becomes as small as its defect allows."""

from __future__ import annotations

from fuzz.capability import Case
from fuzz.reduction import reduce, without_unused_columns

COLUMN = {"type": "int", "pool": "sequence", "nulls": 0.0}
CASE: Case = {
    "capability": "window",
    "tables": {"t": {"seed": 1, "rows": 1000, "files": 4, "columns": {"id": COLUMN, "k": COLUMN}}},
    "session": {"a": "1", "b": "2"},
    "query": {"functions": [{"call": "f"}, {"call": "g", "rounding": "sum", "of": "x"}, {"call": "h"}], "limit": 5},
    "variant": {"parts": 3, "settings": {"x": "1", "y": "2"}},
}


def rows(case: Case) -> list[int]:
    table = case["tables"]["t"]
    return list(range(table["rows"])) if table.get("only") is None else table["only"]


def test_only_what_a_defect_needs_is_left() -> None:
    def fails(case: Case) -> bool:
        calls = [function.get("call") for function in case["query"].get("functions", [])]
        return (
            7 in rows(case)
            and 70 in rows(case)
            and "g" in calls
            and case["variant"].get("settings", {}).get("y") == "2"
        )

    small = reduce(CASE, fails, seconds=30)
    assert rows(small) == [7, 70]
    assert small["query"] == {"functions": [{"call": "g", "rounding": "sum", "of": "x"}]}
    assert small["session"] == {}
    assert small["variant"] == {"settings": {"y": "2"}}
    assert small["tables"]["t"]["files"] == 1


def test_a_case_that_needs_everything_stays_as_it_is() -> None:
    assert reduce(CASE, lambda case: False, seconds=30) == CASE


def test_columns_that_no_query_names_go() -> None:
    slim = without_unused_columns(CASE, "SELECT k FROM t")
    assert list(slim["tables"]["t"]["columns"]) == ["k"]
