"""What may happen to an artifact on disk. Whoever can forge checksums, or loses files consistently, is among it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _version(artifact: Path) -> Path:
    return next(iter(sorted((artifact / "versions").iterdir())))


def _data(artifact: Path) -> Path:
    return next(iter(sorted((_version(artifact) / "data").glob("*.parquet"))))


def _describe(artifact: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the description of a version, and all checksums with it."""
    path = _version(artifact) / "version.json"
    description = json.loads(path.read_text())
    change(description)
    path.write_text(json.dumps(description))
    pointer = json.loads((artifact / "_current.json").read_text())
    pointer["version_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (artifact / "_current.json").write_text(json.dumps(pointer))


def _rename_data(artifact: Path, place: str) -> None:
    version = _version(artifact)
    for file in sorted((version / "data").glob("*.parquet")):
        target = version / place / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(file, target)

    def change(description: dict[str, Any]) -> None:
        for file in description["files"]:
            file["path"] = file["path"].replace("data/", f"{place}/", 1)

    _describe(artifact, change)


def _lose_entries(artifact: Path) -> None:
    def change(description: dict[str, Any]) -> None:
        description["files"] = []

    _describe(artifact, change)


def _lose_data_entries(artifact: Path) -> None:
    def change(description: dict[str, Any]) -> None:
        description["files"] = [f for f in description["files"] if not f["path"].endswith(".parquet")]

    _describe(artifact, change)


def _empty_data(artifact: Path) -> None:
    """Rows lost from a file whose entry was written anew."""
    import pyarrow.parquet as pq

    path = _data(artifact)
    rows = pq.read_table(path)
    pq.write_table(rows.slice(0, rows.num_rows // 2), path)

    def change(description: dict[str, Any]) -> None:
        for file in description["files"]:
            if file["path"].endswith(path.name):
                file["length"] = path.stat().st_size
                file["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()

    _describe(artifact, change)


def _flip(artifact: Path) -> None:
    content = bytearray(_data(artifact).read_bytes())
    content[len(content) // 2] ^= 1
    _data(artifact).write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "data in a sub-folder": lambda artifact: _rename_data(artifact, "data/more"),
    "data elsewhere in the version": lambda artifact: _rename_data(artifact, "payload"),
    "data outside the version": lambda artifact: _rename_data(artifact, "../elsewhere"),
    "no files": _lose_entries,
    "no data files": _lose_data_entries,
    "half of the data": _empty_data,
    "data gone": lambda artifact: _data(artifact).unlink(),
    "data truncated": lambda artifact: _data(artifact).write_bytes(_data(artifact).read_bytes()[:-9]),
    "a bit flipped": _flip,
    "description garbage": lambda artifact: (_version(artifact) / "version.json").write_text("{"),
    "pointer empty": lambda artifact: (artifact / "_current.json").write_text(""),
    "pointer garbage": lambda artifact: (artifact / "_current.json").write_text('{"version": 7}'),
}
