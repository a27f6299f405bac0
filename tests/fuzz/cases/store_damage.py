"""Damages to an artifact on disk.

Changed descriptions have valid checksums and a valid seal, as after a consistent loss of files, or a forgery. Only the
missing data shows then that the artifact is not whole.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from spark_joinery.store import seal

WORDS = ["w0", "w1", "w2", "w3"]


def _version(artifact: Path) -> Path:
    return next(iter(sorted((artifact / "versions").iterdir())))


def _data(artifact: Path) -> Path:
    return next(iter(sorted((_version(artifact) / "data").glob("*.parquet"))))


def _forget_crc(file: Path) -> None:
    """Remove the file with Hadoop's checksum of a local file; object stores have none."""
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)


def _describe(artifact: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the description of a version, and update all checksums."""
    path = _version(artifact) / "version.json"
    description = json.loads(path.read_text())
    change(description)
    if seal.FIELD in description:
        description[seal.FIELD] = seal.BLANK
        path.write_bytes(seal.sealed(json.dumps(description).encode()))
    else:
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


def _write_data(artifact: Path, *parts: pa.Table) -> None:
    """Replace the data by one or more files, and write the entries that they need."""
    folder, old = _version(artifact) / "data", _data(artifact)
    names = [old.name, *(f"more-{i}.parquet" for i in range(1, len(parts)))]
    for name, rows in zip(names, parts, strict=True):
        pq.write_table(rows, folder / name)
        _forget_crc(folder / name)

    def change(description: dict[str, Any]) -> None:
        kept = [file for file in description["files"] if not file["path"].endswith(old.name)]
        description["files"] = [*kept, *(_entry(folder / name) for name in names)]

    _describe(artifact, change)


def _entry(file: Path) -> dict[str, Any]:
    content = file.read_bytes()
    return {"path": f"data/{file.name}", "length": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _lose_rows(artifact: Path) -> None:
    """Lose half of the blocks of a file, and write a new entry for the file."""
    rows = pq.read_table(_data(artifact))
    _write_data(artifact, rows.slice(0, rows.num_rows // 2))


def _lose_bits(artifact: Path) -> None:
    """Keep all blocks, but in each half of their words only the last bit that a key has set."""
    rows = pq.read_table(_data(artifact))
    for word in WORDS:
        bits = [value & -value & 0xFFFFFFFF | _high(value) for value in rows[word].to_pylist()]
        rows = rows.set_column(rows.schema.get_field_index(word), word, pa.array(bits, pa.int64()))
    _write_data(artifact, rows)


def _high(word: int) -> int:
    """The last set bit of the upper half, as part of a signed word."""
    upper = word >> 32 & 0xFFFFFFFF
    bit = (upper & -upper) << 32
    return bit - 2**64 if bit >= 2**63 else bit


def _cut(artifact: Path) -> None:
    """Move half of the data to another file, without any loss."""
    rows = pq.read_table(_data(artifact))
    half = rows.num_rows // 2
    _write_data(artifact, rows.slice(0, half), rows.slice(half))


def _lose_a_file(artifact: Path) -> None:
    """Lose one of two files, with its entry."""
    _cut(artifact)
    lost = _data(artifact)
    lost.unlink()

    def change(description: dict[str, Any]) -> None:
        description["files"] = [file for file in description["files"] if not file["path"].endswith(lost.name)]

    _describe(artifact, change)


def _flip(artifact: Path) -> None:
    content = bytearray(_data(artifact).read_bytes())
    content[len(content) // 2] ^= 1
    _data(artifact).write_bytes(content)
    _forget_crc(_data(artifact))


def _truncate(artifact: Path) -> None:
    _data(artifact).write_bytes(_data(artifact).read_bytes()[:-9])
    _forget_crc(_data(artifact))


# A filter is as good as before after these.
HARMLESS: dict[str, Callable[[Path], object]] = {"none": lambda artifact: None, "data in two files": _cut}
DAMAGES: dict[str, Callable[[Path], object]] = {
    **HARMLESS,
    "data in a sub-folder": lambda artifact: _rename_data(artifact, "data/more"),
    "data elsewhere in the version": lambda artifact: _rename_data(artifact, "payload"),
    "data outside the version": lambda artifact: _rename_data(artifact, "../elsewhere"),
    "no files": _lose_entries,
    "no data files": _lose_data_entries,
    "half of the data": _lose_rows,
    "half of the files": _lose_a_file,
    "bits lost": _lose_bits,
    "data gone": lambda artifact: _data(artifact).unlink(),
    "data truncated": _truncate,
    "a bit flipped": _flip,
    "description garbage": lambda artifact: (_version(artifact) / "version.json").write_text("{"),
    "pointer empty": lambda artifact: (artifact / "_current.json").write_text(""),
    "pointer garbage": lambda artifact: (artifact / "_current.json").write_text('{"version": 7}'),
}
