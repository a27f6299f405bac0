"""Queries that Joinery does not handle keep exactly the same plans."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.common.spark import numbered_from_zero
from benchmarks.ordinary import QUERIES

ROOT = Path(__file__).resolve().parents[2]

PRINT_PLANS = """
import json, sys
from benchmarks.ordinary import QUERIES
from benchmarks.planning import session

spark = session(sys.argv[1])
print(json.dumps([spark.sql(q)._jdf.queryExecution().toString() for q in QUERIES]))
"""


def plans(jar: str) -> list[str]:
    """All four plans of each query, with the numbers of expressions and plans changed to count from 0."""
    output = subprocess.run(
        [sys.executable, "-c", PRINT_PLANS, jar], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [numbered_from_zero(plan) for plan in json.loads(output.splitlines()[-1])]


def test_a_hundred_ordinary_queries_have_the_same_plans_with_the_jar_and_without() -> None:
    with ThreadPoolExecutor() as both:
        with_jar, without = both.map(plans, ("on", "off"))
    assert len(with_jar) == len(without) == len(QUERIES) == 100
    for query, a, b in zip(QUERIES, with_jar, without, strict=True):
        assert a == b, query
