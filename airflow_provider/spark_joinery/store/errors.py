"""What can go wrong with a store that its user has to mend."""

from __future__ import annotations

from spark_joinery.errors import JoineryError


class StoreError(JoineryError):
    """The artifact store cannot be used. The message names the path and how to mend it."""


class StoreNotWritableError(StoreError):
    """The process may not create files below the store's root."""


class StoreNameError(StoreError):
    """A kind, relation or specification hash that cannot name a folder."""
