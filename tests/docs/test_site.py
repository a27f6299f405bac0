"""The documentation builds as a site, without a warning, and needs no other host."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from support.documentation import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site. Broken links, unknown anchors or pages missing in the navigation fail the build."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    written = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}
    assert {path.with_name("index") if path.name == "README" else path for path in written} <= built


def test_pages_from_outside_docs_and_links_to_them(site: Path) -> None:
    assert 'href="how-to/dbt-and-airflow.html"' in (site / "index.html").read_text()
    assert 'href="NOTICE.txt"' in (site / "index.html").read_text()
    assert (site / "NOTICE.txt").read_text() == (ROOT / "NOTICE").read_text()
    assert 'href="dbt-package.html#range_join"' in (site / "reference" / "range-join.html").read_text()


def test_fences_lists_and_tables_are_rendered(site: Path) -> None:
    """The site would show GitHub's Markdown as plain text if its own dialect does not know it."""
    for page in site.rglob("*.html"):
        paragraphs = re.findall(r"<p>(.*?)</p>", page.read_text(), re.DOTALL)
        raw = [text for text in paragraphs if re.search(r"```|^\||^[-*] ", text, re.MULTILINE)]
        assert not raw, page


def test_pages_load_nothing_from_other_hosts(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|img|iframe)[^>]* src=\"?([^\" >]+)", page.read_text())
        loaded += re.findall(r"<link[^>]* rel=\"?(?:stylesheet|preconnect)\"?[^>]*>", page.read_text())
        assert loaded, page
        assert not [what for what in loaded if "//" in what], page


def test_names_of_settings_break_at_their_dots(site: Path) -> None:
    page = (site / "reference" / "configuration.html").read_text()
    assert "<td><code>spark.<wbr>joinery.<wbr>store.<wbr>timeout</code>" in page


@pytest.mark.parametrize(
    ("target", "page", "expected"),
    [
        ("docs/how-to/your-spark.md", "index.md", "how-to/your-spark.md"),
        ("../../dbt_macros/README.md", "reference/range-join.md", "dbt-package.md"),
        ("../docs/reference/airflow.md", "reference/dbt-package.md", "airflow.md"),
        ("dbt_project.yml", "reference/dbt-package.md", "dbt_project.yml"),
        ("../decisions/README.md", "how-to/your-spark.md", "../decisions/README.md"),
    ],
)
def test_a_link_finds_its_place_in_the_site(target: str, page: str, expected: str) -> None:
    assert runpy.run_path(str(ROOT / "docs" / "site_pages.py"))["moved"](target, page) == expected
