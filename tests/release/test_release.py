"""The files of a release, made from the tree as it is."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
import spark_joinery
import yaml

import release.__main__ as publish

ROOT = Path(__file__).parents[2]
VERSION = spark_joinery.__version__


@pytest.mark.soak
def test_bundle_of_make_release_has_what_maven_central_asks_for() -> None:
    subprocess.run(["make", "release"], cwd=ROOT, check=True)
    with zipfile.ZipFile(ROOT / f"dist/maven-bundle-{VERSION}.zip") as bundle:
        names = {name for name in bundle.namelist() if not name.endswith("/")}
        for line, entry in json.loads((ROOT / "jvm/spark-versions.json").read_text())["versions"].items():
            artifact = f"spark-joinery-{line}_{entry['scala'].rpartition('.')[0]}"
            base = f"io/github/sparkjoinery/{artifact}/{VERSION}/{artifact}-{VERSION}"
            for ending in (".jar", ".pom", "-sources.jar", "-javadoc.jar"):
                assert {f"{base}{ending}", f"{base}{ending}.md5", f"{base}{ending}.sha1"} <= names
                checksum = hashlib.sha1(bundle.read(f"{base}{ending}")).hexdigest()
                assert bundle.read(f"{base}{ending}.sha1").decode() == checksum
            with zipfile.ZipFile(io.BytesIO(bundle.read(f"{base}-sources.jar"))) as sources:
                shim = "org/apache/spark/sql/joinery/Collations.scala"
                assert (b"CollationKey" in sources.read(shim)) == (line != "3.5")


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
