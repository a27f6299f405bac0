"""Advice on settings that cost a session time."""

from __future__ import annotations

PARTITIONS = "spark.sql.shuffle.partitions"
SPARKS_DEFAULT = 200


def partitions_advice(configured: int) -> str | None:
    """Advise on a number of shuffle partitions that somebody has set.

    Args:
        configured: The session's `spark.sql.shuffle.partitions`.

    Returns:
        The number of partitions without the setting, in words; None at Spark's default.

    Example:
        >>> partitions_advice(200)
        >>> partitions_advice(77)[:47]
        'spark.sql.shuffle.partitions is set to 77. With'
    """
    if configured == SPARKS_DEFAULT:
        return None
    return (
        f"{PARTITIONS} is set to {configured}. Without it, plans with an operator of Joinery have as many partitions "
        "as their bytes need, and with spark.joinery.shuffleWidth=all every plan has."
    )
