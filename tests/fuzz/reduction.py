"""Makes a failing case smaller: takes away every part without which the case still fails."""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from fuzz.capability import Case

# Parts that say how results are compared. Without them, rounding is a difference.
KEPT = ("rounding", "of")


def reduce(case: Case, fails: Callable[[Case], bool], seconds: float) -> Case:
    """Reduce a case.

    Args:
        case: A case that fails.
        fails: Whether another case fails in the same way.
        seconds: The time to try.

    Returns:
        The smallest failing case that was found in time.
    """
    deadline = time.monotonic() + seconds
    progress = True
    while progress:
        progress = False
        for smaller in candidates(case):
            if time.monotonic() > deadline:
                return case
            if fails(smaller):
                case, progress = smaller, True
                break
    return case


def candidates(case: Case) -> Iterator[Case]:
    """Smaller cases, the boldest first."""
    for name, table in case["tables"].items():
        for described in smaller_tables(table):
            yield changed(case, ["tables", name], described)
    for path in (["variant"], ["session"], ["later"], ["query"]):
        if path[0] in case:
            yield from without_parts(case, path)


def without_unused_columns(case: Case, *texts: str) -> Case:
    """The case with only those columns that the texts name."""
    used = " ".join(texts)
    other = copy.deepcopy(case)
    for table in other["tables"].values():
        columns = {name: described for name, described in table["columns"].items() if re.search(rf"\b{name}\b", used)}
        table["columns"] = columns or table["columns"]
    return other


def smaller_tables(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Tables with fewer rows, then with fewer files."""
    only = table.get("only")
    if only is None and table["rows"] > 400:
        for rows in (table["rows"] // 8, table["rows"] // 2, table["rows"] * 3 // 4):
            yield {**table, "rows": rows}
    else:
        kept = list(range(table["rows"])) if only is None else only
        size = max(1, len(kept) // 2)
        while kept and size:
            for start in range(0, len(kept), size):
                yield {**table, "only": kept[:start] + kept[start + size :]}
            size = size // 2 if size > 8 or len(kept) <= 24 else 0
    if table["files"] > 1:
        yield {**table, "files": 1}


def without_parts(case: Case, path: list[Any]) -> Iterator[Case]:
    """Cases that lack a setting, a clause or one of several conditions."""
    part = at(case, path)
    if isinstance(part, dict):
        for key, value in part.items():
            if key not in KEPT:
                yield changed(case, [*path, key], None, delete=True)
            if isinstance(value, dict | list):
                yield from without_parts(case, [*path, key])
    elif isinstance(part, list):
        for i in range(len(part)):
            yield changed(case, path, part[:i] + part[i + 1 :])
            if isinstance(part[i], dict | list):
                yield from without_parts(case, [*path, i])


def at(case: Case, path: list[Any]) -> Any:
    """The part of a case at a path."""
    part: Any = case
    for key in path:
        part = part[key]
    return part


def changed(case: Case, path: list[Any], value: Any, delete: bool = False) -> Case:
    """A copy of a case with another value at a path, or with the path deleted."""
    other = copy.deepcopy(case)
    part = at(other, path[:-1])
    if delete:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return other
