"""Values of the source, axes and shares, as a page and its plots show them; see `spark_joinery.text` for the rest."""

from __future__ import annotations

NULL = "NULL"
EMPTY = "''"


def visible(text: str, longest: int = 80) -> str:
    """Show a text so that it can neither hide nor disturb anything.

    Control characters, marks that turn the direction of writing, and odd spaces become `\\x07` or `\\u202e`, as in
    Python; XML cannot hold most of them, and a reader cannot see them.

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
