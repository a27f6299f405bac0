"""The full product of windows, which the Scala suites only sample."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUITE = "io.github.sparkjoinery.window.SlidingWindowProductSuite"


@pytest.mark.soak
@pytest.mark.timeout(8 * 3600)
def test_every_function_over_every_frame() -> None:
    """Hours; ``JOINERY_PRODUCT_SHARE`` (0 to 1) takes less. Counts and the seed (``JOINERY_SEED``) are printed."""
    build = [sys.executable, "jvm/build.py", "4.3", "test", "-q", f"-Dsuites={SUITE}"]
    subprocess.run(build, cwd=ROOT, check=True, env={**os.environ, "JOINERY_SOAK": "true"})
