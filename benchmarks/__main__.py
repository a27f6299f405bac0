"""`python -m benchmarks [CASE]`: run the cases, check what they check, write `benchmarks/results/<case>.md`."""

from __future__ import annotations

import importlib
import sys

import click

from benchmarks.report import Result, show, write

# Case by name, in the order in which `make bench` runs them.
CASES = {"planning": "benchmarks.planning"}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="[CASE]...")
@click.option("--save/--no-save", default=True, help="Write the results below benchmarks/results.")
def main(names: tuple[str, ...], save: bool) -> None:
    """Run benchmark cases (all, unless some are named)."""
    unknown = [name for name in names if name not in CASES]
    if unknown:
        raise click.UsageError(f"no case {', '.join(unknown)}; there are: {', '.join(CASES)}")
    missed = False
    for name in names or CASES:
        result: Result = importlib.import_module(CASES[name]).run()
        show(result)
        if save:
            write(result)
        missed |= not result.met
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
