"""`python generate.py FOLDER SCALE FILES`: write TPC-DS's tables as Parquet, in an environment with DuckDB's `dsdgen`.

It imports nothing of this project, which that environment does not have.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import duckdb

SMALL = 100_000  # rows of a table that is written as one file


def main(folder: Path, scale: str, files: int) -> None:
    """Write a folder for each table.

    Args:
        folder: The folder in which to make them.
        scale: TPC-DS's scale factor.
        files: The number of files of a large table.
    """
    connection = duckdb.connect()
    connection.execute(f"LOAD '{extension()}'; CALL dsdgen(sf = {scale})")
    # The queries are of TPC-DS 1.4, which has this name.
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
    """The extension's file inside its package. DuckDB does not find it there by itself."""
    package = importlib.util.find_spec("duckdb_extension_tpcds")
    assert package
    assert package.origin
    return next(Path(package.origin).parent.rglob("*.duckdb_extension"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
