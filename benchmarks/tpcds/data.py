"""The 24 tables of TPC-DS, made once by TPC's own `dsdgen`, which DuckDB has as an extension."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

from benchmarks.common.data import FILES, made_once

# The extension fits only one version of DuckDB, so the two have a separate environment.
DUCKDB = "1.5.5"
GENERATOR = f"duckdb-extension-tpcds {DUCKDB}"
PACKAGES = (f"duckdb=={DUCKDB}", f"duckdb-extension-tpcds=={DUCKDB}")
PROGRAM = Path(__file__).with_name("generate.py")


def tables(scale: float) -> dict[str, Path]:
    """The tables as folders of Parquet files.

    Args:
        scale: TPC-DS's scale factor: 1 is 2.9 million rows of `store_sales`.

    Returns:
        Folders by table.
    """
    folder = made_once(f"tpcds_1.4_{DUCKDB}_{scale:g}", lambda target: _generate(target, scale))
    return {table.name: table for table in sorted(folder.iterdir())}


def _generate(folder: Path, scale: float) -> None:
    environment = made_once(f"tpcds_generator_{DUCKDB}", _install)
    subprocess.run([environment / "bin" / "python", PROGRAM, folder, f"{scale:g}", str(FILES)], check=True)


def _install(folder: Path) -> None:
    venv.create(folder, with_pip=True, symlinks=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
