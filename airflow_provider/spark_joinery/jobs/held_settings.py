"""Settings that a session has for as long as a job needs them, also where several jobs run in it at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from pyspark.sql import SparkSession


@dataclass
class _Held:
    """A setting of a session that jobs hold.

    Attributes:
        former: The value before the first job held it; None if it was not set.
        holders: Number of jobs that hold it now.
    """

    former: str | None
    holders: int = 0


# Held settings by session and key. The last holder deletes its entry, so that no session is remembered after its jobs.
_held: dict[tuple[str, str], _Held] = {}
_lock = threading.Lock()


@contextmanager
def held_settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Give a session some settings until the last job that holds them has left.

    Jobs may overlap, in threads or one within another. Only the first one sees the user's values, and the session gets
    them back when the last one leaves.

    Args:
        spark: A session, classic or Spark Connect.
        values: Settings by key. All jobs that hold a key must hold it with the same value.

    Yields:
        Nothing: the session has the settings.

    Example:
        >>> with held_settings(spark, {"spark.sql.files.ignoreCorruptFiles": "false"}):
        ...     spark.table("raw.flights").count()
    """
    session = _identity(spark)
    with ExitStack() as stack:
        for key, value in values.items():
            _take(spark, session, key, value)
            stack.callback(_give_back, spark, session, key)
        yield


def _take(spark: SparkSession, session: str, key: str, value: str) -> None:
    with _lock:
        held = _held.get((session, key))
        if held is None:
            held = _Held(spark.conf.get(key, None))
            spark.conf.set(key, value)
            _held[session, key] = held
        held.holders += 1


def _give_back(spark: SparkSession, session: str, key: str) -> None:
    with _lock:
        held = _held[session, key]
        held.holders -= 1
        if held.holders:
            return
        # deleted first, because the rest fails if Spark has ended
        del _held[session, key]
        if held.former is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, held.former)


def _identity(spark: SparkSession) -> str:
    """Tell sessions apart by Spark's own name for each: several objects of Python may stand for one session."""
    if hasattr(spark, "_jsparkSession"):
        return str(spark._jsparkSession.sessionUUID())
    return str(spark.session_id)  # type: ignore[attr-defined]
