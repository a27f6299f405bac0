"""A hook of mkdocs: pages and files that stand outside docs/ become part of the site, and links find them there."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]

# place in the repository -> place in the site
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "NOTICE": "NOTICE.txt",
    "dbt_macros/README.md": "reference/dbt-package.md",
    "dbt_macros/dbt_project.yml": "reference/dbt_project.yml",
    "airflow_provider/spark_joinery/metadata/meta.joinery.v1.json": "reference/meta.joinery.v1.json",
}
RESULTS = sorted(file.name for file in (ROOT / "benchmarks/results").iterdir() if file.suffix in (".md", ".svg"))
ELSEWHERE |= {page: page for page in ["benchmarks/README.md", *(f"benchmarks/results/{name}" for name in RESULTS)]}
IN_REPOSITORY = {site: repository for repository, site in ELSEWHERE.items()}

LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")
# The words after the language are for the tests of the examples.
REMARK = re.compile(r"^(```\w+) .+$", re.MULTILINE)
NAME = re.compile(r"(?<=<td><code>)[\w.]+(?=</code>)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages and files outside docs/.

    Args:
        files: The files below docs/.
        config: The site's configuration.

    Returns:
        All of them.
    """
    for repository, site in ELSEWHERE.items():
        files.append(File.generated(config, site, abs_src_path=str(ROOT / repository)))
    return files


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let names in the first column of tables, such as those of settings, break at their dots and nowhere else.

    Args:
        html: The page.
        page: Its place in the site.
        config: The site's configuration.
        files: All files of the site.

    Returns:
        The page with places to break.
    """
    return NAME.sub(lambda name: name[0].replace(".", ".<wbr>"), html)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Take the tests' remarks off fenced blocks, and point links at places in the site.

    Args:
        markdown: The page, as it is in the repository.
        page: Its place in the site.
        config: The site's configuration.
        files: All files of the site.

    Returns:
        The page, as it is in the site.
    """
    site = page.file.src_uri
    return LINK.sub(lambda link: f"]({moved(link[1], site)}{link[2] or ''})", REMARK.sub(r"\1", markdown))


def moved(target: str, site: str) -> str:
    """Find a link's target in the site.

    Args:
        target: Relative to the page's place in the repository.
        site: The page's place in the site.

    Returns:
        The target relative to the page's place in the site.
    """
    source = posixpath.dirname(IN_REPOSITORY.get(site, f"docs/{site}"))
    path = posixpath.normpath(posixpath.join(source, target))
    return posixpath.relpath(ELSEWHERE.get(path, path.removeprefix("docs/")), posixpath.dirname(site) or ".")
