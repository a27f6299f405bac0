"""dbt installs the package from git by a tag and a subdirectory, and it has all that dbt's hub asks for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from spark_joinery import __version__
from support.dbt_project import PACKAGE, Dbt, write_project

pytestmark = pytest.mark.dbt
ROOT = PACKAGE.parent


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with the package in a subdirectory, and a tag, like this repository."""
    folder = tmp_path_factory.mktemp("repository")
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("target", "logs", "dbt_packages"))
    author = ["-c", "user.name=joinery", "-c", "user.email=joinery@example.com", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "The package"], ["tag", f"v{__version__}"]):
        subprocess.run(["git", *author, *command], cwd=folder, check=True, capture_output=True)
    return folder


def test_it_is_installed_by_git_and_subdirectory(dbt: Dbt, repository: Path, tmp_path: Path) -> None:
    write_project(tmp_path)
    package = {"git": f"file://{repository}", "subdirectory": PACKAGE.name, "revision": f"v{__version__}"}
    (tmp_path / "packages.yml").write_text(yaml.safe_dump({"packages": [package]}))
    project = Dbt(tmp_path)
    assert project.invoke("deps").success, project.log
    installed = tmp_path / "dbt_packages" / "joinery"
    assert not installed.is_symlink()  # a local package would be one
    assert (installed / "LICENSE").is_file()
    assert project.render("range_join", left="l", right="r", left_point="v", right_interval=["s", "e"], columns=["x"])


def test_it_brings_readme_license_and_one_range_of_versions() -> None:
    declared = yaml.safe_load((PACKAGE / "dbt_project.yml").read_text())
    assert declared["name"] == "joinery"
    assert declared["version"] == __version__
    assert declared["require-dbt-version"] == [">=1.11.0", "<2.0.0"]
    assert (PACKAGE / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert (PACKAGE / "README.md").read_text().startswith("# The dbt package `joinery`")


def test_it_builds_nothing_and_leaves_configuration_alone() -> None:
    """The package has no models, seeds or snapshots, and no config that would reach the user's."""
    declared = yaml.safe_load((PACKAGE / "dbt_project.yml").read_text())
    assert not {"models", "seeds", "snapshots", "sources", "tests", "data_tests"} & set(declared)
    assert {path.name for path in PACKAGE.iterdir() if path.is_dir()} <= {"macros", "logs", "target", "dbt_packages"}
