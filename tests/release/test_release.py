"""The files of a release, made from the tree as it is."""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
import zipfile
from pathlib import Path

import pytest
import spark_joinery
import yaml

import release.__main__ as publish
from release import maven

ROOT = Path(__file__).parents[2]
VERSION = spark_joinery.__version__


@pytest.mark.soak
def test_bundle_of_all_lines_has_what_maven_central_asks_for(tmp_path: Path) -> None:
    with zipfile.ZipFile(maven.bundle(tmp_path, VERSION)) as bundle:
        names = {name for name in bundle.namelist() if not name.endswith("/")}
        for line, entry in json.loads((ROOT / "jvm/spark-versions.json").read_text())["versions"].items():
            artifact = f"spark-joinery-{line}_{entry['scala'].rpartition('.')[0]}"
            base = f"io/github/sparkjoinery/{artifact}/{VERSION}/{artifact}-{VERSION}"
            for ending in (".jar", ".pom", "-sources.jar", "-javadoc.jar"):
                assert {f"{base}{ending}", f"{base}{ending}.md5", f"{base}{ending}.sha1"} <= names
                checksum = hashlib.sha1(bundle.read(f"{base}{ending}")).hexdigest()
                assert bundle.read(f"{base}{ending}.sha1").decode() == checksum


@pytest.mark.parametrize(
    ("line", "shims"),
    [
        ("3.5", {"spark-3.5-", "spark-4.0-", "spark-4.2-"}),
        ("4.1", {"spark-4.0+", "spark-4.1+", "spark-4.1", "spark-4.2-"}),
        ("4.3", {"spark-4.0+", "spark-4.1+", "spark-4.2+", "spark-4.3+"}),
    ],
)
def test_source_folders_of_a_line_are_those_that_it_is_compiled_from(line: str, shims: set[str]) -> None:
    assert {folder.parent.name for folder in maven.source_folders(line)} - {"main"} == shims


def test_dbt_package_stands_at_the_root_of_its_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "DIST", tmp_path)
    with tarfile.open(publish.dbt_package(VERSION)) as tar:
        names = tar.getnames()
        project = tar.extractfile(f"joinery-{VERSION}/dbt_project.yml")
        assert project is not None
        assert yaml.safe_load(project)["version"] == VERSION
    assert {f"joinery-{VERSION}/{name}" for name in ("README.md", "LICENSE", "macros")} <= set(names)


def test_notes_of_the_version_are_its_section_of_the_changelog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "DIST", tmp_path)
    text = publish.notes(VERSION).read_text()
    assert text.startswith("### Added")
    assert "### Known limits" in text
    assert not re.search(r"^## ", text, re.MULTILINE)


def test_notes_of_a_version_without_a_section_are_one_clear_error() -> None:
    with pytest.raises(SystemExit, match=r"no section \[9.9.9\]"):
        publish.notes("9.9.9")
