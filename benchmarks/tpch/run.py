"""Case tpch: what Joinery costs those who ask for none of it, and where it fires."""

from __future__ import annotations

from benchmarks.report import Result
from benchmarks.tpc import page
from benchmarks.tpch.suite import TPCH


def run(scale: float = 1) -> Result:
    """See `benchmarks.tpc.page.run`."""
    return page.run(TPCH, scale)
