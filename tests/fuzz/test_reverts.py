"""Patches that take a fix out still apply; `make fuzz-reverts` says whether the fuzzer finds the wrong answers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fuzz.cases import CAPABILITIES
from fuzz.reverts import PATCHES, ROOT, cases_of, chosen


def test_each_wrong_answer_has_a_patch() -> None:
    assert {patch.stem.partition("-")[0] for patch in PATCHES} == set("12345678")
    assert [patch.stem for patch in chosen(["1"])] == ["1-time-slices"]


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_patch_applies(patch: Path) -> None:
    checked = subprocess.run(
        ["git", "apply", "--check", str(patch)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, f"{checked.stderr}\nThe code has changed: make the patch anew."


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_patch_says_by_which_case_it_is_found(patch: Path) -> None:
    assert cases_of(patch)
    assert set(cases_of(patch)) <= set(CAPABILITIES)
