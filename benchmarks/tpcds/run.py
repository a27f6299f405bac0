"""Case tpcds: what Joinery costs those who ask for none of it, and where it fires, over many small tables."""

from __future__ import annotations

from benchmarks.report import Result
from benchmarks.tpc import page
from benchmarks.tpcds.suite import TPCDS


def run(scale: float = 1) -> Result:
    """See `benchmarks.tpc.page.run`."""
    return page.run(TPCDS, scale)
