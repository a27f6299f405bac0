"""The files that a version consists of, by its kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# No name here is hidden from Spark, and none is "." or "..".
_NAME = "[^/._][^/]*"
_STATE = f"state/{_NAME}"
_DATA = {"range_index": f"data/run-[0-9]+/{_NAME}"}
_DATA_OF_OTHERS = f"data/{_NAME}"


def problem_of(description: Mapping[str, Any]) -> str | None:
    """Check that a reader of the kind would read every file that a description lists.

    A reader that skips a file would take a part of the artifact for the whole.

    Args:
        description: The content of a `version.json`.

    Returns:
        The problem, in a few words; None if there is none.

    Raises:
        KeyError: If the description lacks a field.
        TypeError: If a field is of another type than it should be.

    Example:
        >>> problem_of({"kind": "distribution", "files": [{"path": "data/../part-0.parquet"}]})
        "lists 'data/../part-0.parquet', which is no file of its data"
    """
    paths = [entry["path"] for entry in description["files"]]
    expected = _DATA.get(description["kind"], _DATA_OF_OTHERS)
    data = [path for path in paths if re.fullmatch(expected, path)]
    for path in paths:
        if path not in data and not re.fullmatch(_STATE, path):
            return f"lists '{path}', which is no file of its data"
    if len(set(paths)) < len(paths):
        return "lists a file twice"
    if not data:
        return "lists no data"
    if description["kind"] == "range_index":
        in_runs = [f"data/{name}" for run in description["runs"] for name in run]
        if sorted(in_runs) != sorted(data):
            return "lists other files than its runs consist of"
    return None


def is_proven(description: Mapping[str, Any]) -> bool:
    """Whether a reader can prove that an artifact is complete, if an incomplete one would give wrong answers.

    Args:
        description: The content of a `version.json`.

    Returns:
        False for bloom filters of older releases, which do not say how many blocks are filled.
    """
    if description["kind"] != "bloom_filter":
        return True
    return all(isinstance(description.get(name), int) for name in ("filled_blocks", "set_bits"))
