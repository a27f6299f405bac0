"""The reference page of the dbt macros equals the page generated from their YAML."""

from __future__ import annotations

import runpy

from support.documentation import ROOT, blocks


def test_the_page_is_generated_from_the_yaml() -> None:
    program = runpy.run_path(str(ROOT / "docs" / "macro_reference.py"))
    written = (ROOT / "docs" / "reference" / "dbt-macros.md").read_text()
    assert written == program["reference"](), "run `python docs/macro_reference.py`"


def test_every_folder_of_public_macros_is_on_it() -> None:
    program = runpy.run_path(str(ROOT / "docs" / "macro_reference.py"))
    documented = {path.parent.name for path in (ROOT / "dbt_macros" / "macros").glob("*/*.yml")}
    assert set(program["SECTIONS"]) == documented


def test_sql_on_the_page_of_the_package_is_that_of_golden_files() -> None:
    golden = {file.read_text().strip() for file in (ROOT / "tests/golden/dbt").glob("*.sql")}
    rendered = [block for block in blocks(ROOT / "dbt_macros/README.md", "sql") if "{{" not in block.text]
    assert len(rendered) == 4
    assert [block for block in rendered if block.text.strip() not in golden] == []
