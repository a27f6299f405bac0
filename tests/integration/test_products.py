"""The full products of dimensions, from which the Scala suites normally draw a sample."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "jvm/src/test/scala/io/github/sparkjoinery"
# Suites that draw from products of dimensions contain the name of the class that draws.
SUITES = sorted(
    str(file.relative_to(SOURCES).with_suffix("")).replace("/", ".")
    for file in SOURCES.rglob("*Suite.scala")
    if "Pairwise" in file.read_text()
)


def test_suites_that_draw_are_found() -> None:
    assert {"lastjoin.LastJoinSuite", "rangejoin.RangeJoinProductSuite"} < set(SUITES)


@pytest.mark.soak
@pytest.mark.timeout(8 * 3600)
@pytest.mark.parametrize("suite", SUITES)
def test_every_query(suite: str) -> None:
    """Takes hours, or less with ``JOINERY_PRODUCT_SHARE`` (0 to 1). Prints counts and the seed (``JOINERY_SEED``)."""
    build = [sys.executable, "jvm/build.py", "4.3", "suites", suite]
    subprocess.run(build, cwd=ROOT, check=True, env={**os.environ, "JOINERY_SOAK": "true"})
