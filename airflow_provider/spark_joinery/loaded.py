"""Whether a session has Joinery, and why a jar that it has loaded does nothing."""

from __future__ import annotations

from typing import Any


def is_loaded(spark: Any) -> bool:
    """Ask a session, classic or Spark Connect, for the extension.

    Args:
        spark: The session.
    """
    return bool(spark.catalog.functionExists("joinery_version"))


def misfit(spark: Any) -> str | None:
    """Ask a session whether its jar is built for another Spark line.

    Args:
        spark: The session.

    Returns:
        The jar's warning, with the name of the right jar; None if the jar fits or is not there.
    """
    if not spark.catalog.functionExists("joinery_misfit"):
        return None
    row = spark.sql("SELECT joinery_misfit()").first()
    assert row is not None
    return str(row[0])
