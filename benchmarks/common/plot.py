"""The medians of a group of cases as bars. `python -m benchmarks.common.plot GROUP` draws them from JSON again."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

from benchmarks.report import ROOT

COLOURS = {"joinery": "#c2410c", "floor": "#d6d3d1"}
PEER = "#64748b"
OURS = "joinery"


def draw(figures: dict[str, dict[str, Any]], file: Path) -> None:
    """One panel per case, one bar per engine, on a logarithmic scale.

    Args:
        figures: `{case: {engine: {"seconds": [...], "stopped": bool}}}`, as in `results/<group>.json`. Other entries
            are left out.
        file: The file to write, SVG or PNG by its ending.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "joinery"  # the same figures give the same file
    matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text, in a tenth of the size
    from matplotlib import pyplot

    figures = {case: engines for case, engines in figures.items() if OURS in engines}
    bars = [len(engines) for engines in figures.values()]
    figure, panels = pyplot.subplots(
        len(figures), 1, figsize=(9, 0.3 * sum(bars) + len(figures)), height_ratios=bars, squeeze=False
    )
    for panel, (case, engines) in zip(panels[:, 0], figures.items(), strict=True):
        medians = [statistics.median(engine["seconds"]) for engine in engines.values()]
        drawn = panel.barh(list(engines), medians, color=[_colour(name) for name in engines])
        labels = [f"{'> ' * e['stopped']}{m:.2f} s" for e, m in zip(engines.values(), medians, strict=True)]
        panel.bar_label(drawn, labels, padding=3, fontsize=8)
        panel.set_xscale("log")
        panel.set_title(case, loc="left", fontsize=10)
        panel.margins(x=0.15)
        panel.invert_yaxis()
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    pyplot.close(figure)


def _colour(name: str) -> str:
    return next((colour for start, colour in COLOURS.items() if name.startswith(start)), PEER)


if __name__ == "__main__":
    source = ROOT / "benchmarks" / "results" / f"{sys.argv[1]}.json"
    draw(json.loads(source.read_text()), source.with_suffix(".svg"))
