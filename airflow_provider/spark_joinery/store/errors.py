"""What can go wrong with a store that its user has to mend."""

from __future__ import annotations

from spark_joinery.cause import SPARK_IS_GONE
from spark_joinery.errors import JoineryError


class StoreError(JoineryError):
    """The artifact store cannot be used. The message names the path and how to mend it."""


class StoreNotWritableError(StoreError):
    """The process may not create files below the store's root."""


class StoreNotReadableError(StoreError):
    """What was published may be whole, but the file system does not give it out now."""


class SparkGoneError(StoreError):
    """The JVM through which the store is reached has ended."""

    def __init__(self) -> None:
        super().__init__(f"{SPARK_IS_GONE}.")


class StoreNameError(StoreError):
    """A kind, relation or specification hash that cannot name a folder."""
