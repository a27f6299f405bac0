"""Values of the source and numbers, as a page and its plots show them."""

from __future__ import annotations

from datetime import datetime, timedelta

NULL = "NULL"
EMPTY = "''"


def visible(text: str, longest: int = 80) -> str:
    """Show a text so that it can neither hide nor disturb anything.

    Control characters, marks that turn the direction of writing, and odd spaces become `\\x07` or `\\u202e`, as in
    Python; XML has no way to write most of them, and a reader no way to see them.

    Args:
        text: Any text.
        longest: How many characters to show.

    Returns:
        Printable characters and plain spaces only; a text that was cut ends in "…".

    Example:
        >>> visible("a\\tb")
        'a\\\\tb'
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def key_name(values: tuple[str | None, ...], longest: int = 80) -> str:
    """Name a key in one line.

    Args:
        values: One per key column; None is NULL.
        longest: How many characters to show.

    Returns:
        The values with commas between them.

    Example:
        >>> key_name(("UA", None))
        'UA, NULL'
    """
    return visible(", ".join(NULL if value is None else value or EMPTY for value in values), longest)


def number(value: float) -> str:
    """Write a count with commas, or a smaller figure with three digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"


def compact(value: float) -> str:
    """Write a number for an axis.

    Args:
        value: Any number.

    Returns:
        Such as "200 k" or "1.5 M", with all the digits it needs.
    """
    for unit, name in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= max(unit, 1e4):
            return f"{value / unit:.10g}{name}"
    return f"{value:.10g}"


def percent(share: float) -> str:
    """Write a share with three digits or fewer.

    Args:
        share: 0 to 1.

    Returns:
        Such as "34.2 %", "0.98 %" or "< 0.01 %".
    """
    if 0 < share < 0.0001:
        return "< 0.01 %"
    return f"{share:.1%}".replace("%", " %") if share >= 0.1 or share == 0 else f"{share:.2%}".replace("%", " %")


def size(count: int) -> str:
    """Write a number of bytes in the unit that fits."""
    value = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"


def age(built_at: datetime | None, now: datetime) -> str:
    """Say how long ago something was built.

    Args:
        built_at: When; None if nobody knows.
        now: When the report is made.

    Returns:
        Such as "7 hours".
    """
    if built_at is None:
        return "unknown"
    passed = max(now - built_at, timedelta())  # clocks of two machines may differ
    for unit, seconds in (("day", 86400), ("hour", 3600), ("minute", 60)):
        count = int(passed.total_seconds() // seconds)
        if count:
            return f"{count:,} {unit}{'s' if count > 1 else ''}"
    return "< 1 minute"
