"""Run Spark's own SQL tests with Joinery's jar and without, and compare every answer.

    python -m spark_sql [--page PAGE] [--file PATTERN] [--all]

Each file runs in three kinds of session: stock Spark, the jar at its defaults, and the jar with all thresholds lowered.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark import __version__ as spark_version

TESTS = Path(__file__).resolve().parents[1]
# The newest line of Spark that publishes its tests.
ARTIFACT = "org.apache.spark:spark-sql_2.13:4.2.0:jar:tests"
KINDS = {"jar": "with the jar", "eager": "with the jar, thresholds lowered"}
# Statements that show plans or metadata are not compared. A statement that may return any rows has to return as many.
ABOUT_PLANS = re.compile(r"\s*(EXPLAIN|DESC|DESCRIBE|SHOW)\b", re.IGNORECASE)
ANY_ROWS = re.compile(r"\b(LIMIT|OFFSET|TABLESAMPLE)\b", re.IGNORECASE)

Answers = list[dict[str, Any]]


def unpacked(folder: Path) -> Path:
    """Fetch and unpack the inputs of Spark SQL's tests.

    Args:
        folder: The folder for the inputs.
    """
    maven = ["mvn", "--batch-mode", "--quiet", "dependency:copy", f"-Dartifact={ARTIFACT}"]
    subprocess.run([*maven, f"-DoutputDirectory={folder}"], check=True)
    (jar,) = folder.glob("*.jar")
    with zipfile.ZipFile(jar) as archive:
        wanted = ("sql-tests/inputs/", "test-data/postgresql/")
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith(wanted)])
    return folder


def run(kind: str, folder: Path, options: argparse.Namespace) -> Answers:
    """Run one kind of session; returns its answers."""
    answers = folder / f"{kind}.json"
    command = [
        sys.executable,
        "-m",
        "spark_sql.answers",
        kind,
        str(folder),
        str(answers),
        options.file,
        *(["all"] if options.all else []),
    ]
    subprocess.run(command, check=True, cwd=TESTS, stderr=subprocess.DEVNULL)
    found: Answers = json.loads(answers.read_text())
    return found


def differ(ours: dict[str, Any], stock: dict[str, Any]) -> bool:
    """True if stock Spark gives an answer, and Joinery another one or an error."""
    if stock["error"] or ABOUT_PLANS.match(stock["sql"]):
        return False
    if ours["error"]:
        return True
    if ANY_ROWS.search(stock["sql"]):
        return len(ours["rows"]) != len(stock["rows"])
    return bool(ours["rows"] != stock["rows"])


def shown(kind: str, ours: dict[str, Any], stock: dict[str, Any]) -> str:
    """Text that shows a difference to a reader."""
    answers = (f"{name}: {str(one['error'] or one['rows'])[:1000]}" for name, one in (("stock", stock), (kind, ours)))
    return "\n".join([f"{ours['file']} {ours['settings']}", ours["sql"], *answers])


def table(answers: dict[str, Answers], differences: Counter[str]) -> str:
    """A Markdown table with the counts."""
    stock = answers["stock"]
    lines = [
        "| | statements | answered by stock Spark | with an operator of Joinery | differences |",
        "|---|---|---|---|---|",
    ]
    for kind, title in KINDS.items():
        operators = Counter(operator for one in answers[kind] for operator in one["operators"])
        taken = sum(bool(one["operators"]) for one in answers[kind])
        by = ", ".join(f"`{name}` {number:,}" for name, number in operators.most_common())
        answered = sum(one["error"] is None for one in stock)
        lines.append(f"| {title} | {len(stock):,} | {answered:,} | {taken:,} ({by}) | {differences[kind]} |")
    return "\n".join(lines)


def write_page(page: Path, answers: dict[str, Answers], counts: str) -> None:
    """Replace the counts on a page."""
    files = len({one["file"] for one in answers["stock"]})
    text = f"Spark {spark_version}, {files} files.\n\n{counts}\n"
    marked = f"<!-- counts -->\n\n{text}\n<!-- end of counts -->"
    page.write_text(
        re.sub(r"<!-- counts -->.*<!-- end of counts -->", lambda _: marked, page.read_text(), flags=re.DOTALL)
    )


def main() -> None:
    """Run all, print the differences, and fail if there are any."""
    parser = argparse.ArgumentParser(prog="spark_sql", description=__doc__)
    parser.add_argument("--page", type=Path, help="a page whose counts are written anew")
    parser.add_argument("--file", default="", help="a pattern: only files with such a name")
    parser.add_argument("--all", action="store_true", help="run each file under all its combinations of settings")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = unpacked(Path(scratch))
        with ThreadPoolExecutor(2) as pool:
            kinds = ["stock", *KINDS]
            results = pool.map(run, kinds, [folder] * len(kinds), [options] * len(kinds))
            answers = dict(zip(kinds, results, strict=True))
    differences: Counter[str] = Counter()
    for kind in KINDS:
        for ours, stock in zip(answers[kind], answers["stock"], strict=True):
            if differ(ours, stock):
                differences[kind] += 1
                print(shown(kind, ours, stock), end="\n\n")
    counts = table(answers, differences)
    print(counts)
    if options.page:
        write_page(options.page, answers, counts)
    if differences:
        sys.exit(f"{differences.total()} answers differ from stock Spark's")


if __name__ == "__main__":
    main()
