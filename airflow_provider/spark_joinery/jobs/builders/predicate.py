"""Find parts of a `where` that mean something else tomorrow, as far as its text shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import NamedTuple

# Tokens of Spark's grammar. A comment may contain comments.
_TOKEN = re.compile(
    r"""
    (?P<space> \s+ | --[^\r\n]*)
    | (?P<comment> /\*)
    | (?P<string> [rR]'[^']*' | [rR]"[^"]*" | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*")
    | (?P<quoted> `(?:[^`]|``)*`)
    | (?P<name> [^\W\d]\w*)
    | (?P<other> \d\w* | .)
    """,
    re.VERBOSE | re.DOTALL,
)
_TYPED = frozenset({"date", "time", "timestamp", "timestamp_ltz", "timestamp_ntz"})
# Literals that stay fixed: they begin with a digit or sign, or are 'epoch'. Others may spell a word such as 'now', with
# escapes or with several literals in a row.
_FIXED = re.compile(r"""(?is)[r]?['"]\s*(?:[0-9+-]|epoch\s*['"]$)""")
_SPECIAL_DAY = re.compile(r"""(?is)[r]?['"]\s*(?:now|today|tomorrow|yesterday)\b""")
# Functions that Spark also calls without parentheses, unless a column has the name.
_BARE = frozenset(
    {
        "current_catalog", "current_database", "current_date", "current_schema", "current_time", "current_timestamp",
        "current_user", "localtime", "localtimestamp", "session_user", "user",
    }
)  # fmt: skip
_CHANGING = _BARE | frozenset(
    {
        "curdate", "current_path", "current_timezone", "getdate", "input_file_block_length", "input_file_block_start",
        "input_file_name", "java_method", "monotonically_increasing_id", "now", "rand", "randn", "random", "randstr",
        "reflect", "shuffle", "spark_partition_id", "try_reflect", "uniform", "uuid", "version",
    }
)  # fmt: skip
# Functions that return the present time if their argument is left out.
_CHANGING_ALONE = frozenset({"unix_timestamp"})


class Token(NamedTuple):
    """A word, string or sign of SQL.

    Attributes:
        kind: "string", "name", "quoted" or "other".
        text: The token as it is written.
    """

    kind: str
    text: str

    @property
    def name(self) -> str | None:
        """The name without its quotes, in lower case; None if the token is no name."""
        if self.kind == "quoted":
            return self.text[1:-1].replace("``", "`").lower()
        return self.text.lower() if self.kind == "name" else None


def tokens(sql: str) -> list[Token]:
    """Split a text of SQL as Spark does, without white space and comments.

    Args:
        sql: The text.

    Returns:
        Its tokens.

    Example:
        >>> [token.text for token in tokens("status = 'now' -- today")]
        ['status', '=', "'now'"]
    """
    found, at = [], 0
    while at < len(sql):
        match = _TOKEN.match(sql, at)
        assert match is not None, "the last alternative takes every character"
        assert match.lastgroup is not None, "each alternative has a name"
        if match.lastgroup == "comment":
            at = _end_of_comment(sql, at)
            continue
        if match.lastgroup != "space":
            found.append(Token(match.lastgroup, match.group()))
        at = match.end()
    return found


def changes_by_its_text(where: str) -> str | None:
    """Find a day or time that may be another one tomorrow, or a variable that Spark replaces in the text.

    The jar has the same rule (`WhereText.changes`); `tests/golden/where_text.json` keeps both in step.

    Args:
        where: A predicate of Spark SQL.

    Returns:
        That part of the predicate; None if there is none.

    Example:
        >>> changes_by_its_text("d < date 'today'")
        "date 'today'"
    """
    if "${" in where:
        return "${" + where.split("${", 1)[1].split("}", 1)[0] + "}"
    words = tokens(where)
    for word, value in pairwise(words):
        is_typed = word.kind == "name" and word.name in _TYPED and value.kind == "string"
        if is_typed and not _FIXED.match(value.text):
            return f"{word.text} {value.text}"
    return None


def changes_by_itself(where: str, columns: Mapping[str, str]) -> str | None:
    """Find a part of a predicate that may give another answer each time.

    Args:
        where: A predicate of Spark SQL.
        columns: The relation's columns, with their types as Spark's `simpleString`.

    Returns:
        That part of the predicate; None if there is none.

    Example:
        >>> changes_by_itself("current_flag = 'Y' AND now() > ts", {"current_flag": "string", "ts": "timestamp"})
        'now()'
    """
    if part := changes_by_its_text(where):
        return part
    words = tokens(where)
    named = {name.lower(): data_type for name, data_type in columns.items()}
    for at, word in enumerate(words):
        rest = [token.text for token in words[at + 1 : at + 3]]
        is_part = at > 0 and words[at - 1].text == "."
        if rest[:1] == ["("] and (word.name in _CHANGING or (word.name in _CHANGING_ALONE and rest[1:] == [")"])):
            return f"{word.name}()"
        if rest[:1] != ["("] and not is_part and word.name in _BARE and word.name not in named:
            return word.text
    return _special_day(words, named)


def _special_day(words: Collection[Token], columns: Mapping[str, str]) -> str | None:
    """Find a string such as 'today', if the predicate has a day or time that it may be compared with."""
    special = next((word.text for word in words if word.kind == "string" and _SPECIAL_DAY.match(word.text)), None)
    names = {word.name for word in words if word.name}
    is_temporal = any(columns.get(name, "").startswith(("date", "timestamp")) for name in names) or any(
        name in _TYPED or name.startswith("to_") for name in names - columns.keys()
    )
    return special if is_temporal else None


def _end_of_comment(sql: str, start: int) -> int:
    """The end of a bracketed comment, which may contain others; the end of the text if it is never closed."""
    depth, at = 1, start + 2
    while depth and at < len(sql):
        if sql.startswith("/*", at):
            depth, at = depth + 1, at + 2
        elif sql.startswith("*/", at):
            depth, at = depth - 1, at + 2
        else:
            at += 1
    return at
