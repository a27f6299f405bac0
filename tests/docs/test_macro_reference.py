"""The reference page of the dbt macros equals the page generated from their YAML."""

from __future__ import annotations

import runpy

from support.documentation import ROOT


def test_the_page_is_generated_from_the_yaml() -> None:
    program = runpy.run_path(str(ROOT / "docs" / "macro_reference.py"))
    written = (ROOT / "docs" / "reference" / "dbt-macros.md").read_text()
    assert written == program["reference"](), "run `python docs/macro_reference.py`"


def test_every_folder_of_public_macros_is_on_it() -> None:
    program = runpy.run_path(str(ROOT / "docs" / "macro_reference.py"))
    documented = {path.parent.name for path in (ROOT / "dbt_macros" / "macros").glob("*/*.yml")}
    assert set(program["SECTIONS"]) == documented
