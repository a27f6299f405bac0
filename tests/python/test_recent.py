"""Test tools count as recent if they were changed lately, or if git cannot tell."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.recent import COMMITS, is_recent


def git(folder: Path, *arguments: str) -> None:
    author = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *author, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository in which only the first commit changed a tool."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "a.py").write_text("1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--message", "tool")
    for number in range(COMMITS):
        git(tmp_path, "commit", "--allow-empty", "--message", str(number))
    return tmp_path


def test_a_tool_unchanged_for_many_commits(repository: Path) -> None:
    assert not is_recent(repository, ["tool"])
    (repository / "other.py").write_text("1")
    assert not is_recent(repository, ["tool"])


def test_a_tool_that_is_changed(repository: Path) -> None:
    (repository / "tool" / "a.py").write_text("2")
    assert is_recent(repository, ["tool"])
    git(repository, "commit", "--all", "--message", "change")
    assert is_recent(repository, ["tool"])
    assert not is_recent(repository, ["tool", ":!tool/a.py"])


def test_a_file_that_is_new(repository: Path) -> None:
    (repository / "tool" / "b.py").write_text("2")
    assert is_recent(repository, ["tool"])


def test_a_clone_without_the_commits(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    clone = tmp_path_factory.mktemp("clone")
    git(clone, "clone", "--quiet", "--depth", "5", f"file://{repository}", ".")
    assert is_recent(clone, ["tool"])


def test_no_repository(tmp_path: Path) -> None:
    assert is_recent(tmp_path, ["tool"])
