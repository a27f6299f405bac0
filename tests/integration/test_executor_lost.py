"""If an executor is lost while a filter is built, its tasks run again, the answer is the same, and nothing is left."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import executor_lost

pytestmark = [pytest.mark.server, pytest.mark.soak]


@pytest.mark.timeout(300)
def test_the_filter_is_built_all_the_same(tmp_path: Path) -> None:
    program = [sys.executable, str(Path(str(executor_lost.__file__))), str(tmp_path)]
    run = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    assert lines, run.stderr[-4000:]
    found = json.loads(lines[-1])
    assert found["killed"] == 1
    assert found["equal"]
    assert found["rows"] > 0
    assert " keys of small" in found["plan"]
    assert found["active_jobs"] == 0
