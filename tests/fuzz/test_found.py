"""The fuzzer does not find old differences again. Each file of `found/` is a case as its report printed it."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from fuzz.runner import replay

FOUND = sorted((Path(__file__).parent / "found").glob("*.json"))


@pytest.fixture(scope="module")
def verdicts() -> dict[str, dict[str, Any]]:
    """Verdicts by name. Cases that need the same settings of the application share one."""
    groups: dict[str, list[Path]] = defaultdict(list)
    for path in FOUND:
        groups[json.dumps(json.loads(path.read_text())["static"], sort_keys=True)].append(path)
    seen = {}
    for static, paths in groups.items():
        cases = [json.loads(path.read_text())["case"] for path in paths]
        found = replay(cases, json.loads(static))
        seen |= {path.stem: verdict for path, verdict in zip(paths, found, strict=False)}
    return seen


@pytest.mark.parametrize("name", [path.stem for path in FOUND])
def test_no_difference_any_more(verdicts: dict[str, dict[str, Any]], name: str) -> None:
    verdict = verdicts.get(name)
    assert verdict is not None, "the application died before this case"
    assert verdict["compared"], "stock Spark has no answer to compare with"
    assert verdict["difference"] is None
