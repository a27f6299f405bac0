"""Selects the files of Spark's SQL tests that concern Joinery, and reads their statements."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

# Patterns of file names. Files that need functions of Spark's tests, or show plans, are left out.
CONCERNS = re.compile(r"join|window|subquery/|exists|except|intersect|qualify|pushdown")
LEFT_OUT = re.compile(r"/(udf|udtf|udaf|python|typeCoercion)/|explain|describe|transform|negative-cases")

# Spark's `SQLQueryTestSuite` splits a file at each semicolon without a backslash before it.
SEMICOLON = re.compile(r"(?<=[^\\]);")
DELIMITED = re.compile(r"--QUERY-DELIMITER-START(.*?)--QUERY-DELIMITER-END", re.DOTALL)


@dataclass(frozen=True)
class Input:
    """A file of statements.

    Attributes:
        name: Its path below the inputs.
        statements: Texts without comments.
        settings: Sets of settings. The statements run under each set.
    """

    name: str
    statements: list[str]
    settings: list[dict[str, str]]


def inputs(folder: Path) -> list[Input]:
    """Read all files that concern Joinery.

    Args:
        folder: The folder of all inputs.
    """
    named = {str(path.relative_to(folder)): path for path in folder.rglob("*.sql")}
    return [
        read(named[name], folder) for name in sorted(named) if CONCERNS.search(name) and not LEFT_OUT.search(f"/{name}")
    ]


def read(path: Path, folder: Path) -> Input:
    """Read the statements and settings of a file, with the statements of the files that it imports."""
    comments, code = _comments_and_code(path)
    for imported in _values(comments, "--IMPORT "):
        code = "\n".join([*_comments_and_code(folder / imported)[1].split("\n"), code])
    fixed = dict(pair for line in _values(comments, "--SET ") for pair in _pairs(line))
    dimensions: dict[str, list[dict[str, str]]] = {}
    for line in _values(comments, "--CONFIG_DIM"):
        number, pairs = line.split(" ", 1)
        dimensions.setdefault(number, []).append(dict(_pairs(pairs)))
    combined = [
        {**fixed, **{key: value for one in chosen for key, value in one.items()}}
        for chosen in itertools.product(*dimensions.values())
    ]
    return Input(str(path.relative_to(folder)), _split(code), combined)


def _comments_and_code(path: Path) -> tuple[list[str], str]:
    lines = path.read_text().split("\n")
    is_comment = [line.strip().startswith("--") and "--QUERY-DELIMITER" not in line for line in lines]
    return (
        [line for line, comment in zip(lines, is_comment, strict=True) if comment],
        "\n".join(line for line, comment in zip(lines, is_comment, strict=True) if not comment),
    )


def _values(comments: list[str], word: str) -> list[str]:
    return [line.removeprefix(word).strip() for line in comments if line.startswith(word)]


def _pairs(line: str) -> list[tuple[str, str]]:
    pairs = [part.split("=", 1) for part in re.split(r",(?=\s*spark\.)", line)]
    return [(name.strip(), value.strip()) for name, value in pairs]


def _split(code: str) -> list[str]:
    # The text between two delimiters is one statement, which may have semicolons.
    pieces = DELIMITED.split(code)
    whole = [[piece] if i % 2 else SEMICOLON.split(piece) for i, piece in enumerate(pieces)]
    texts = [text.strip().removesuffix(";").strip() for piece in whole for text in piece]
    return [text for text in texts if text]
