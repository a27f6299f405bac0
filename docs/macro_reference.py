"""Write docs/reference/dbt-macros.md from the YAML of the dbt package: `python docs/macro_reference.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
MACROS = ROOT / "dbt_macros" / "macros"
PAGE = ROOT / "docs" / "reference" / "dbt-macros.md"

# folder below macros/ -> heading
SECTIONS = {
    "last_join": "last_join",
    "range_join": "range_join",
    "bloom_filter_join": "bloom_filter_join",
    "skew_window": "skew_window",
    "generic_tests": "Generic tests",
    "mode": "Mode",
    "lint": "Lint",
}
HEAD = """# dbt macros

The public macros of the dbt package and their arguments; `dbt docs` shows the same. Examples, and the SQL that
they render, are in the [package's README](../../dbt_macros/README.md); vars in [configuration](configuration.md#dbt).
This page is generated from the package's YAML.
"""


def reference() -> str:
    """Render the page.

    Returns:
        Markdown.
    """
    return "\n".join([HEAD, *(line for folder in SECTIONS for line in section(folder))])


def section(folder: str) -> Iterator[str]:
    """Render the macros that one folder declares.

    Args:
        folder: Below `macros/`.

    Yields:
        Lines of Markdown.
    """
    yield f"## {SECTIONS[folder]}\n"
    for path in sorted((MACROS / folder).glob("*.yml")):
        for macro in yaml.safe_load(path.read_text())["macros"]:
            name = macro["name"].removeprefix("test_")
            if name != SECTIONS[folder]:
                yield f"### {name}\n"
            yield f"{one_line(macro['description'])}\n"
            yield from arguments(macro["arguments"])


def arguments(declared: list[dict[str, Any]]) -> Iterator[str]:
    """Render a table of arguments. The model of a generic test is left out, as dbt gives it.

    Args:
        declared: Arguments from the YAML.

    Yields:
        Lines of Markdown, none if there is no argument.
    """
    rows = [argument for argument in declared if argument["name"] != "model"]
    if rows:
        yield "| argument | type | meaning |"
        yield "|---|---|---|"
    for argument in rows:
        yield f"| `{argument['name']}` | `{argument['type']}` | {one_line(argument['description'])} |"
    if rows:
        yield ""


def one_line(text: str) -> str:
    """Undo the line breaks of YAML, and keep pipes from ending a cell."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(reference())
