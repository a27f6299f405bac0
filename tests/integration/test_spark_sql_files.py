"""Spark's own SQL tests have the same answers with the jar, whatever Joinery may do there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

TESTS = Path(__file__).resolve().parents[1]
# The newest line of Spark that publishes its tests.
ARTIFACT = "org.apache.spark:spark-sql_2.13:4.2.0:jar:tests"
# Statements that show plans, and those whose rows may be any, of which errors alone are compared.
ABOUT_PLANS = re.compile(r"\s*(EXPLAIN|DESC|DESCRIBE|SHOW)\b", re.IGNORECASE)
ANY_ROWS = re.compile(r"\b(LIMIT|OFFSET)\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Spark SQL's tests."""
    target = tmp_path_factory.mktemp("spark-sql-tests")
    maven = ["mvn", "--batch-mode", "--quiet", "dependency:copy", f"-Dartifact={ARTIFACT}"]
    subprocess.run([*maven, f"-DoutputDirectory={target}"], check=True)
    (jar,) = target.glob("*.jar")
    with zipfile.ZipFile(jar) as archive:
        wanted = [
            name for name in archive.namelist() if name.startswith(("sql-tests/inputs/", "test-data/postgresql/"))
        ]
        archive.extractall(target, wanted)
    return target


def run(jar: str, folder: Path) -> dict[str, list[dict[str, Any]]]:
    answers = folder / f"{jar}.json"
    command = [sys.executable, "-m", "support.spark_sql_files", jar, str(folder), str(answers)]
    subprocess.run(command, check=True, cwd=TESTS, stderr=subprocess.DEVNULL)
    return json.loads(answers.read_text())


def comparable(answer: dict[str, Any]) -> Any:
    return (None if ANY_ROWS.search(answer["sql"]) else answer["rows"], answer["error"])


def test_the_same_answers(folder: Path) -> None:
    with ThreadPoolExecutor() as both:
        found, expected = both.map(run, ("on", "off"), (folder, folder))
    assert found.keys() == expected.keys()
    assert len(found) > 100
    operators: Counter[str] = Counter()
    differences = []
    for file, answers in found.items():
        for ours, stock in zip(answers, expected[file], strict=True):
            operators.update(ours["operators"])
            if not ABOUT_PLANS.match(ours["sql"]) and comparable(ours) != comparable(stock):
                differences.append(f"{file}\n{ours['sql']}\n{str(ours)[:500]}\n{str(stock)[:500]}")
    print(f"{sum(map(len, found.values()))} statements, {dict(operators)}")
    assert not differences, "\n\n".join(differences)
    assert min(operators[name] for name in ("BroadcastRangeJoin", "SlidingWindow", "joinery_might_contain")) > 0
