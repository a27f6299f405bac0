"""`python -m release`: write what Maven Central, the dbt Hub and a tag's page want into dist/."""

from __future__ import annotations

import re
import sys
import tarfile
from pathlib import Path

import spark_joinery

from release.maven import bundle

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def main() -> None:
    """Write the Maven bundle, the dbt package and the notes of the version that is checked out."""
    version = spark_joinery.__version__
    DIST.mkdir(exist_ok=True)
    for written in (bundle(DIST, version), dbt_package(version), notes(version)):
        print(written.relative_to(ROOT))


def dbt_package(version: str) -> Path:
    """Write the dbt package as the archive of a repository that has it at its root, as dbt Hub wants it."""
    archive = DIST / f"joinery-dbt-{version}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(ROOT / "dbt_macros", f"joinery-{version}", filter=_published)
    return archive


def _published(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out what dbt writes where it runs, and the names of this machine's users."""
    if re.search(r"/(target|logs|dbt_packages)(/|$)|/\.|package-lock", entry.name):
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def notes(version: str) -> Path:
    """Write the changelog's section of a version, for the page of its tag."""
    found = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)", changelog(), re.DOTALL | re.MULTILINE)
    if not found:
        sys.exit(f"CHANGELOG.md has no section [{version}]: write what is new in this version")
    page = DIST / f"notes-{version}.md"
    page.write_text(found[1].strip() + "\n", encoding="utf-8")
    return page


def changelog() -> str:
    """Read the changelog."""
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
