"""Decide which keys are hot."""

from __future__ import annotations

import math
from fractions import Fraction

from spark_joinery.metadata import HotKeys

# A window over fewer rows takes a core about a second at most: a split would cost more than it saves, and small
# relations have no hot keys at all.
DEFAULT_MIN_ROWS = 100_000
# A key holds up a job of C cores once it has more than 1/C of all rows. One in a hundred is where that starts on
# clusters of the usual size, and it limits a relation to a hundred hot keys.
DEFAULT_MIN_SHARE = 0.01


def hot_from(rows: int, hot: HotKeys | None) -> int:
    """Tell from how many rows on a key is hot.

    Args:
        rows: Rows of the relation.
        hot: The limits, by default `DEFAULT_MIN_ROWS` and `DEFAULT_MIN_SHARE`. A hot key reaches all of them.

    Returns:
        A number of rows.

    Example:
        >>> hot_from(336_776, None)
        100000
        >>> hot_from(1_000, HotKeys(min_share=0.1))
        100
    """
    limits = hot or HotKeys(min_rows=DEFAULT_MIN_ROWS, min_share=DEFAULT_MIN_SHARE)
    # Fraction, as 0.07 * 100 is more than 7 in floating point
    share = math.ceil(Fraction(str(limits.min_share or 0)) * rows)
    return max(limits.min_rows or 1, share)
