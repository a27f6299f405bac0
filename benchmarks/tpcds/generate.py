"""`python generate.py FOLDER SCALE FILES`: write TPC-DS's tables as Parquet, in an environment with DuckDB's `dsdgen`.

It runs by itself, as that environment has nothing of this project.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import duckdb

SMALL = 100_000  # rows that one file holds well


def main(folder: Path, scale: str, files: int) -> None:
    """Write a folder for each table.

    Args:
        folder: For the folders.
        scale: TPC-DS's scale factor.
        files: Of a large table.
    """
    connection = duckdb.connect()
    connection.execute(f"LOAD '{extension()}'; CALL dsdgen(sf = {scale})")
    # What the queries' version of TPC-DS, 1.4, calls it.
    connection.execute("ALTER TABLE customer RENAME c_last_review_date_sk TO c_last_review_date")
    for (table,) in connection.sql("SELECT table_name FROM duckdb_tables()").fetchall():
        target = folder / table
        target.mkdir(parents=True)
        ((rows,),) = connection.sql(f"SELECT count(*) FROM {table}").fetchall()
        size = -(-rows // files) if rows > SMALL else rows
        for number in range(-(-rows // size)):
            part = f"SELECT * FROM {table} LIMIT {size} OFFSET {number * size}"
            connection.execute(f"COPY ({part}) TO '{target}/part-{number}.parquet' (FORMAT parquet)")


def extension() -> Path:
    """The extension's file inside its package, from where DuckDB does not load it by itself."""
    package = importlib.util.find_spec("duckdb_extension_tpcds")
    assert package
    assert package.origin
    return next(Path(package.origin).parent.rglob("*.duckdb_extension"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
