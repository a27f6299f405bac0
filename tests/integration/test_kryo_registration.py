"""An application that has to register each class with Kryo before it starts runs as it does without Joinery."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import kryo_registration

pytestmark = pytest.mark.soak


@pytest.mark.timeout(300)
def test_every_operator_runs(tmp_path: Path) -> None:
    program = [sys.executable, str(Path(str(kryo_registration.__file__)))]
    run = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert [query["query"] for query in found] == [query for _, _, query in kryo_registration.QUERIES], run.stderr[
        -4000:
    ]
    for query in found:
        assert query["planned"], query
        assert query["rows"] > 0, query
