"""Errors of the artifact store that its user has to fix."""

from __future__ import annotations

from spark_joinery.cause import SPARK_IS_GONE
from spark_joinery.errors import JoineryError


class StoreError(JoineryError):
    """The artifact store cannot be used. The message says why, and how to fix it."""


class StoreNotWritableError(StoreError):
    """The process may not create files below the store's root."""


class StoreNotReadableError(StoreError):
    """The version published last cannot be read now, but may be undamaged."""


class SparkGoneError(StoreError):
    """The JVM through which the store is reached has ended."""

    def __init__(self) -> None:
        super().__init__(f"{SPARK_IS_GONE}.")


class StoreNameError(StoreError):
    """A kind, relation or specification hash that cannot name a folder."""
