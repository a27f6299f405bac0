"""TPC-H's queries with the parameters by which their answers are validated, a file for each below `queries/`."""

from __future__ import annotations

from pathlib import Path

QUERIES = {file.stem: file.read_text() for file in sorted(Path(__file__).with_name("queries").glob("q*.sql"))}
