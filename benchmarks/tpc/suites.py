"""The suites by name, for programs that get one on their command line."""

from __future__ import annotations

from benchmarks.tpc.suite import Suite
from benchmarks.tpcds.suite import TPCDS
from benchmarks.tpch.suite import TPCH

SUITES: dict[str, Suite] = {suite.name: suite for suite in (TPCH, TPCDS)}
