"""The seconds in README and on the page of benchmarks are those of the committed results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median

import pytest
from support.documentation import ROOT, tables

RESULT = re.compile(r"benchmarks/results/(\w+)\.md\)")
FIGURE = re.compile(r"([\d,.]+) s(?:, (.+?))?(?: \(extrapolated\))?")
PAGES = [ROOT / "README.md", ROOT / "docs" / "benchmarks.md"]


def rows(page: Path) -> list[dict[str, str]]:
    """List the rows of the tables that link a page of results."""
    return [
        dict(zip(heading, row, strict=True))
        for heading, *body in tables(page)
        for row in body
        if "Joinery" in heading and RESULT.search(row[-1])
    ]


def results(row: dict[str, str]) -> dict[str, dict[str, list[float]]]:
    """Read the engines of a row's case: the case that the first column names, or the first of the page."""
    name = RESULT.search(list(row.values())[-1])
    assert name
    cases = json.loads((ROOT / "benchmarks" / "results" / f"{name[1]}.json").read_text())
    return cases.get(next(iter(row.values())), next(iter(cases.values())))


def written(seconds: float) -> str:
    """Round seconds as the tables do."""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.1f}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_figure_is_the_median_of_its_results(page: Path) -> None:
    checked = 0
    for row in rows(page):
        engines = results(row)
        for heading, cell in row.items():
            found = FIGURE.fullmatch(cell)
            if not found:
                continue
            engine = found[2] or {"Joinery": "joinery"}.get(heading, heading)
            assert found[1] == written(median(engines[engine]["seconds"])), (row, engine)
            checked += 1
    assert checked >= 12


def test_cases_on_the_page_of_benchmarks_exist() -> None:
    for row in rows(PAGES[1]):
        name = RESULT.search(row["page"])
        assert name
        assert row["case"] in json.loads((ROOT / "benchmarks" / "results" / f"{name[1]}.json").read_text()), row


def test_figures_of_the_fuzzer_are_those_of_its_page() -> None:
    heading = (ROOT / "benchmarks" / "results" / "fuzz.md").read_text().splitlines()[0]
    found = re.search(r"(\d+) differences in ([\d,]+) queries, and (\d+) mended", heading)
    assert found
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert f"[{found[2]} random queries]" in readme
    assert f"{found[3]} differences were found and fixed" in readme
