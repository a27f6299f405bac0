"""The table and the plot of all cases on top of `benchmarks/README.md`: `python -m benchmarks.overview`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common.rounds import OURS
from benchmarks.report import ROOT

PAGE = ROOT / "benchmarks" / "README.md"
RESULTS = ROOT / "benchmarks" / "results"
PLOT = RESULTS / "overview.svg"
BEGIN, END = "<!-- The table is written by benchmarks/overview.py. -->", "<!-- Here it ends. -->"
ALL_QUERIES = "all queries"  # the case that stands for those of a suite
# Begin of a page's name -> the kind of query on it.
QUERIES = {"last_join": "LAST JOIN", "range": "range join", "window": "window", "runtime_filter": "filter"}
KINDS = {"seconds": "", "first": ", first run in a fresh JVM"}
STOPPED = {"seconds": "stopped", "first": "first_stopped"}
FASTER, SLOWER = "#c2410c", "#64748b"


@dataclass(frozen=True)
class Held:
    """One case held against one peer.

    Args:
        group: The page of the case.
        case: Its name.
        peer: The engine that it is held against.
        theirs: Median seconds of the peer.
        ours: Median seconds of Joinery.
        required: The ratio of both, at least.
        stopped: Whether the peer was stopped before it ended.
    """

    group: str
    case: str
    peer: str
    theirs: float
    ours: float
    required: float
    stopped: bool

    @property
    def ratio(self) -> float:
        """How many times as fast as the peer Joinery is."""
        return self.theirs / self.ours

    def cells(self) -> list[str]:
        """The row of the table."""
        sign = "> " if self.stopped else ""
        verdict = "met" if self.ratio >= self.required else "**not met**"
        return [
            f"[{self.case}](results/{self.group}.md)", self.peer, f"{sign}{written(self.theirs)}", written(self.ours),
            f"{sign}{self.ratio:.3g}", f"{self.required:.2g}" if self.required < 1 else f"{self.required:g}", verdict,
        ]  # fmt: skip


def written(seconds: float) -> str:
    """Seconds with as many digits as say something."""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2f}"


def held(folder: Path = RESULTS) -> list[Held]:
    """Every case and every peer that it is held against, by page.

    Args:
        folder: Of the results.
    """
    return [row for file in sorted(folder.glob("*.json")) for row in _of_page(file)]


def _of_page(file: Path) -> Iterator[Held]:
    cases: dict[str, Any] = json.loads(file.read_text())
    cases = {name: case for name, case in cases.items() if name == ALL_QUERIES or ALL_QUERIES not in cases}
    for name, engines in cases.items():
        ours = engines.get(OURS, {}) if isinstance(engines, dict) else {}
        for peer, figures in engines.items() if isinstance(ours, dict) and ours.get("seconds") else []:
            for kind, bounds in figures.get("required", {}).items():
                against = engines[figures.get("against", OURS)]
                theirs, own = median(figures[kind]), median(against[kind])
                case = f"{_query(file.stem)}: {name}"
                stopped = figures.get(STOPPED[kind], False)
                shown = f"{peer} (extrapolated)" if figures.get("extrapolated") else peer
                for bound in bounds:
                    yield Held(file.stem, case + KINDS[kind], shown, theirs, own, bound, stopped)


def _query(group: str) -> str:
    """The kind of query on a page; the page's name where there is none."""
    return next((query for begin, query in QUERIES.items() if group.startswith(begin)), group)


def table(rows: list[Held]) -> str:
    """The table in Markdown.

    Args:
        rows: The rows of `held`.
    """
    columns = ["case", "next to", "its time, s", "Joinery, s", "times as fast", "required", ""]
    cells = [columns, ["---"] * len(columns), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def page(text: str, rows: list[Held]) -> str:
    """The page with another table.

    Args:
        text: The page.
        rows: The rows of the table.
    """
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n\n{table(rows)}\n\n{END}{rest.split(END)[1]}"


def draw(rows: list[Held], file: Path) -> None:
    """A bar for each row, as long as Joinery is faster, on a logarithmic scale.

    Args:
        rows: The rows of `held`.
        file: The SVG to write.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "joinery"  # the same figures give the same file
    matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text, which takes a tenth of the room
    from matplotlib import pyplot

    figure, panel = pyplot.subplots(figsize=(9, 0.26 * len(rows) + 1))
    ratios = [row.ratio for row in rows]
    bars = panel.barh(
        [f"{row.case}: {row.peer}" for row in rows],
        [ratio - 1 for ratio in ratios], left=1, color=[FASTER if ratio >= 1 else SLOWER for ratio in ratios],
    )  # fmt: skip
    panel.bar_label(bars, [f"{ratio:.3g} x" for ratio in ratios], padding=3, fontsize=7)
    panel.set_xscale("log")
    panel.axvline(1, color="black", linewidth=0.8)
    panel.margins(x=0.15, y=0.01)
    panel.invert_yaxis()
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(labelsize=7)
    panel.set_title("Time of the other engine divided by Joinery's", loc="left", fontsize=10)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def write() -> None:
    """Write the table into the page, and the plot next to the results."""
    rows = held()
    PAGE.write_text(page(PAGE.read_text(), rows))
    draw(rows, PLOT)


if __name__ == "__main__":
    write()
