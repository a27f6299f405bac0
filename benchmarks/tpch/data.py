"""The eight tables of TPC-H, made once by `tpchgen-cli`, whose rows are those of TPC's own `dbgen`."""

from __future__ import annotations

import subprocess
import sysconfig
from importlib.metadata import version
from pathlib import Path

from benchmarks.common.data import FILES, made_once

GENERATOR = "tpchgen-cli"
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


def tables(scale: float) -> dict[str, Path]:
    """The tables as folders of Parquet files.

    Args:
        scale: TPC-H's scale factor: 1 is 6 million rows of `lineitem`.

    Returns:
        Folders by table.
    """
    folder = made_once(f"tpch_{version(GENERATOR)}_{scale:g}", lambda target: _generate(target, scale))
    return {name: folder / name for name in TABLES}


def _generate(folder: Path, scale: float) -> None:
    program = str(Path(sysconfig.get_path("scripts"), GENERATOR))
    command = [program, "parquet", f"--scale-factor={scale:g}", f"--parts={FILES}", f"--output-dir={folder}", "--quiet"]
    subprocess.run(command, check=True)
