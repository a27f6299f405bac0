"""Figures of a case, on the console and as a Markdown file with machine and commit."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Section:
    """A further table of a case.

    Args:
        title: One line that names its contents.
        columns: The head of the table.
        rows: Its cells, as text.
    """

    title: str
    columns: list[str]
    rows: list[list[str]]


@dataclass
class Result:
    """Figures of one case.

    Args:
        case: Name, as on the command line.
        title: One line that names the measurement.
        columns: Head of the table.
        rows: Its cells, as text.
        verdict: The figure that counts, and its bound.
        met: Whether the bound is met.
        notes: Remarks on the measurement.
        data: The figures behind the table, for `<case>.json`.
        plot: Draws the data into a file.
        sections: Further tables.
        command: The command that makes the page; `make bench CASE=...` when empty.
    """

    case: str
    title: str
    columns: list[str]
    rows: list[list[str]]
    verdict: str
    met: bool
    notes: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    plot: Callable[[dict[str, Any], Path], None] | None = None
    sections: list[Section] = field(default_factory=list)
    command: str = ""


def machine() -> str:
    """Processor, cores and memory of this machine, and the versions that matter."""
    cpu = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    kib = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return (
        f"{cpu}, {os.cpu_count()} cores, {kib / 2**20:.0f} GiB; {platform.system()}, Python {platform.python_version()}"
    )


# The code of benchmarks, without the pages that they write.
MEASURED = ("jvm/src", "benchmarks", ":!benchmarks/results", ":!benchmarks/README.md")


def commit(*paths: str) -> str:
    """The commit of the working tree, marked when there are changes on top of it.

    Args:
        paths: Paths whose changes count; the code of benchmarks by default.
    """
    revision = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--", *(paths or MEASURED))
    return revision + (" with local changes" if changed else "")


def show(result: Result) -> None:
    """Print a result."""
    console = Console() if sys.stdout.isatty() else Console(width=180)
    for part in [Section(result.title, result.columns, result.rows), *result.sections]:
        table = Table(*part.columns, title=part.title)
        for row in part.rows:
            table.add_row(*row)
        console.print(table)
    console.print(f"{'[green]met[/]' if result.met else '[red]not met[/]'}: {result.verdict}")


def write(result: Result) -> Path:
    """Write a result where it is committed.

    Returns:
        The file, `benchmarks/results/<case>.md`. Its data is next to it in `<case>.json`, and drawn in `<case>.svg`.
    """
    command = result.command or f"make bench CASE={result.case}"
    lines = [
        f"# {result.title}",
        "",
        *_table(result.columns, result.rows),
        f"**{'Met' if result.met else 'Not met'}**: {result.verdict}",
        "",
        *(line for part in result.sections for line in (f"## {part.title}", "", *_table(part.columns, part.rows))),
        *(f"- {note}" for note in result.notes),
        "",
        *([f"![medians]({result.case}.svg)", ""] if result.plot else []),
        f"`{command}`, commit {commit()}, {datetime.now(timezone.utc):%Y-%m-%d}; {machine()}",
        "",
    ]
    path = ROOT / "benchmarks" / "results" / f"{result.case}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines))
    if result.data:
        path.with_suffix(".json").write_text(json.dumps(result.data, indent=1) + "\n")
    if result.plot:
        result.plot(result.data, path.with_suffix(".svg"))
    return path


def _table(columns: list[str], rows: list[list[str]]) -> list[str]:
    cells = [columns, ["---"] * len(columns), *rows]
    return [*("| " + " | ".join(row) + " |" for row in cells), ""]


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
