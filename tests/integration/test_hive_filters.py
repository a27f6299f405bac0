"""Runtime filters of the keys of Hive tables, which Spark reads as files or through Hive."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import hive_tables

pytestmark = pytest.mark.soak


@pytest.mark.timeout(300)
def test_answers_are_equal_and_rows_are_dropped(tmp_path: Path) -> None:
    program = [sys.executable, str(Path(str(hive_tables.__file__))), str(tmp_path)]
    run = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert len(found) == len(hive_tables.SMALL) * len(hive_tables.FACTS), run.stderr[-4000:]
    for query in found:
        assert query["equal"], query
        assert query["rows"] == 40 * 10, query
        assert query["filtered"], query
