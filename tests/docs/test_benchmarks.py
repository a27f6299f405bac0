"""The figures in README and on the page of benchmarks equal those of the committed results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median

import pytest
from support.documentation import ROOT, tables

from benchmarks import overview

RESULT = re.compile(r"benchmarks/results/(\w+)\.md\)")
FIGURE = re.compile(r"([\d,.]+) s(?:, (.+?))?(?: \(extrapolated\))?")
README = ROOT / "README.md"


def rows() -> list[dict[str, str]]:
    """List the rows of README's tables that link to a page of results."""
    return [
        dict(zip(heading, row, strict=True))
        for heading, *body in tables(README)
        for row in body
        if "Joinery" in heading and RESULT.search(row[-1])
    ]


def results(row: dict[str, str]) -> dict[str, dict[str, list[float]]]:
    """Read the engines of the case that a row's first column names, or else of the first case of the page."""
    name = RESULT.search(list(row.values())[-1])
    assert name
    cases = json.loads((ROOT / "benchmarks" / "results" / f"{name[1]}.json").read_text())
    return cases.get(next(iter(row.values())), next(iter(cases.values())))


def written(seconds: float) -> str:
    """Write seconds rounded as in the tables."""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.1f}"


def test_every_figure_is_the_median_of_its_results() -> None:
    checked = 0
    for row in rows():
        engines = results(row)
        for heading, cell in row.items():
            found = FIGURE.fullmatch(cell)
            if not found:
                continue
            engine = found[2] or {"Joinery": "joinery"}.get(heading, heading)
            assert found[1] == written(median(engines[engine]["seconds"])), (row, engine)
            checked += 1
    assert checked >= 8


def test_the_table_of_all_cases_is_made_of_the_results() -> None:
    text = overview.PAGE.read_text()
    assert overview.page(text, overview.held()) == text


@pytest.mark.parametrize(
    ("peer", "cells"),
    [
        ({"seconds": [8.0, 9.0, 12.0]}, ["9.00", "2.00", "4.5", "4", "met"]),
        ({"seconds": [7.0]}, ["7.00", "2.00", "3.5", "4", "**not met**"]),
        ({"seconds": [700.0], "stopped": True}, ["> 700", "2.00", "> 350", "4", "met"]),
        ({"seconds": [700.0], "extrapolated": True}, ["700", "2.00", "350", "4", "met"]),
    ],
)
def test_a_row_of_the_table(tmp_path: Path, peer: dict[str, object], cells: list[str]) -> None:
    engines = {
        "joinery": {"seconds": [2.0], "first": [5.0]},
        "peer": peer | {"first": [6.0], "required": {"seconds": [4], "first": [1]}},
        "another": {"seconds": [1.0]},
    }
    (tmp_path / "group.json").write_text(json.dumps({"case": engines}))
    (tmp_path / "other.json").write_text(json.dumps({"rows": 3, "list": [1]}))
    warm, first = (row.cells() for row in overview.held(tmp_path))
    shown = "peer (extrapolated)" if "extrapolated" in peer else "peer"
    assert warm == ["[group: case](results/group.md)", shown, *cells]
    assert first[:3] == ["[group: case, first run in a fresh JVM](results/group.md)", shown, "6.00"]


def test_a_suite_is_one_row_of_the_table(tmp_path: Path) -> None:
    both = {"joinery": {"seconds": [4.0]}, "stock": {"seconds": [5.0], "required": {"seconds": [2]}, "against": "wide"}}
    cases = {"q1": both, overview.ALL_QUERIES: {**both, "wide": {"seconds": [2.0]}}}
    (tmp_path / "suite.json").write_text(json.dumps(cases))
    (row,) = overview.held(tmp_path)
    assert (row.case, row.theirs, row.ours) == ("suite: all queries", 5.0, 2.0)


def test_figures_of_the_fuzzer_are_those_of_its_page() -> None:
    heading = (ROOT / "benchmarks" / "results" / "fuzz.md").read_text().splitlines()[0]
    found = re.search(r"(\d+) differences in ([\d,]+) queries, and (\d+) mended", heading)
    assert found
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert f"[{found[2]} random queries]" in readme
    assert f"{found[3]} differences were found and fixed" in readme
