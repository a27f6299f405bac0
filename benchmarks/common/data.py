"""Tables made once, from a fixed seed, as Parquet below `target/bench/`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.report import ROOT

FILES = 8  # per table, so that every core has some to read
MONTH_US = 30 * 24 * 3600 * 1_000_000
START_US = 1_767_225_600_000_000  # 2026-01-01


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder with data, which is made if it is missing.

    Args:
        name: Name of the folder, with everything that the data depends on.
        make: Fills a folder. An unfinished folder is never used.
    """
    folder = ROOT / "target" / "bench" / name
    if not folder.exists():
        unfinished = folder.with_name(folder.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        make(unfinished)
        unfinished.rename(folder)
    return folder


def write(folder: Path, table: pa.Table, page_index: bool = False) -> None:
    """Write a table as files of the same size.

    Args:
        folder: The folder to make.
        table: The rows.
        page_index: Whether the files have an index of the values of each page, as Spark's files have.
    """
    folder.mkdir(parents=True)
    size = -(-table.num_rows // FILES)
    for i in range(FILES):
        pq.write_table(table.slice(i * size, size), folder / f"part-{i}.parquet", write_page_index=page_index)


def distinct_times(rows: int, random: np.random.Generator) -> pa.Array:
    """Different timestamps of a month, in no order. An order by them has one right answer."""
    step = MONTH_US // rows
    return timestamps(START_US + random.permutation(rows) * step + random.integers(0, step, rows))


def timestamps(micros: np.ndarray) -> pa.Array:
    """Microseconds since 1970 as timestamps."""
    return pa.array(micros).cast(pa.timestamp("us", tz="UTC"))
