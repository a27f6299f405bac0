"""`python -m benchmarks [CASE]`: run the cases, check what they check, write `benchmarks/results/<case>.md`."""

from __future__ import annotations

import importlib
import sys

import click

from benchmarks import overview
from benchmarks.report import Result, show, write

# Case by name, in the order in which `make bench` runs them.
CASES = {
    "planning": "benchmarks.planning",
    "planning_store": "benchmarks.planning_store",
    "tpch": "benchmarks.tpch.run",
    "tpcds": "benchmarks.tpcds.run",
    "refresh": "benchmarks.refresh",
    "example": "benchmarks.example",
    "featurestore": "benchmarks.featurestore",
    "cluster": "benchmarks.cluster",
    "last_join_multi": "benchmarks.last_join.multi",
    "last_join_point_in_time": "benchmarks.last_join.point_in_time",
    "last_join_large": "benchmarks.last_join.large",
    "last_join_skew": "benchmarks.last_join.skew",
    "last_join_keyless": "benchmarks.last_join.keyless",
    "last_join_memory": "benchmarks.last_join.memory",
    "window_article": "benchmarks.window.article",
    "window_skew": "benchmarks.window.skew",
    "window_range": "benchmarks.window.range",
    "window_small": "benchmarks.window.small",
    "window_memory": "benchmarks.window.memory",
    "range_point": "benchmarks.range_join.point",
    "range_point_1m": "benchmarks.range_join.point_1m",
    "range_point_left": "benchmarks.range_join.point_left",
    "range_overlap": "benchmarks.range_join.overlap",
    "range_validity": "benchmarks.range_join.validity",
    "range_history": "benchmarks.range_join.history",
    "range_worst": "benchmarks.range_join.worst",
    "range_index": "benchmarks.range_join.index",
    "range_stored": "benchmarks.range_join.stored",
    "range_memory": "benchmarks.range_join.memory",
    "runtime_filter": "benchmarks.runtime_filter.run",
}

SCALE_HELP = "Of the data. Below 1 only agreement is judged, and nothing is written."


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="[CASE]...")
@click.option("--save/--no-save", default=True, help="Write the results below benchmarks/results.")
@click.option("--scale", default=1.0, type=click.FloatRange(0, 1, min_open=True), help=SCALE_HELP)
def main(names: tuple[str, ...], save: bool, scale: float) -> None:
    """Run benchmark cases (all, unless some are named); `last_join` stands for every case that begins so."""
    missed = False
    for name in [case for prefix in names or ("",) for case in _cases(prefix)]:
        result: Result = importlib.import_module(CASES[name]).run(scale=scale)
        show(result)
        if save and scale == 1:
            write(result)
            overview.write()
        missed |= not result.met
    sys.exit(1 if missed else 0)


def _cases(prefix: str) -> list[str]:
    cases = [prefix] if prefix in CASES else [case for case in CASES if case.startswith(prefix)]
    if not cases:
        raise click.UsageError(f"no case {prefix}; there are: {', '.join(CASES)}")
    return cases


if __name__ == "__main__":
    main()
