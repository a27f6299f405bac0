"""Sizes, ages, counts and names as people read them, on the terminal and on the report's page alike."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """Escape characters that a terminal or a log would obey and not show, or could not encode.

    Args:
        text: A name or message; names come from the writers of manifests and stores, who may not be trusted.

    Returns:
        The text with control and format characters and lone surrogates escaped, line breaks and tabs kept.

    Example:
        >>> printable("raw.\x1b[2Jflights")
        'raw.\\x1b[2Jflights'
    """
    return "".join(
        each
        if each.isprintable() or each in "\n\t" or unicodedata.category(each) == "Zs"
        else each.encode("unicode_escape").decode()
        for each in text
    )


def size(count: int | None) -> str:
    """Write a number of bytes in the unit that fits, as Spark's UI does.

    Args:
        count: Bytes; None if unknown.

    Example:
        >>> size(1536)
        '1.5 KiB'
    """
    if count is None:
        return "-"
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.1f} {unit}" if unit != "B" else f"{count} B"
        value /= 1024
    return f"{value:,.1f} TiB"


def age(seconds: float | None) -> str:
    """Write how long ago something was.

    Args:
        seconds: The age; None if unknown, below 0 if the clocks of two machines differ.

    Example:
        >>> age(93600)
        '26 h'
    """
    if seconds is None:
        return "-"
    seconds = max(seconds, 0.0)
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} s"


def number(value: float | None) -> str:
    """Write a count with commas, or another number with three digits.

    Args:
        value: The number; None if unknown.

    Example:
        >>> number(336776), number(0.01234)
        ('336,776', '0.0123')
    """
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"
