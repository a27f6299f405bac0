"""Format versions of the store's own files, and how to read the older ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# format of version.json
FORMAT_VERSION = 2

# format of _current.json, which has changed less often
CURRENT_FORMAT_VERSION = 1

Description = dict[str, Any]


def _from_1(description: Description) -> Description:
    """Format 1 knew distributions only, without error bounds, and nothing about the source but its files."""
    unknown = ("built_from", "hot_from", "keys_relative_error", "null_keys", "order_nulls", "rank_confidence")
    return {
        **dict.fromkeys((*unknown, "rank_error", "seconds", "source")),
        **description,
        "format_version": 2,
    }


# Functions that upgrade a description to the next format, by the format version that they start from.
_UPGRADES: dict[int, Callable[[Description], Description]] = {1: _from_1}

FORMAT_VERSIONS = frozenset({*_UPGRADES, FORMAT_VERSION})
CURRENT_FORMAT_VERSIONS = frozenset({CURRENT_FORMAT_VERSION})


def upgrade(description: Description) -> Description:
    """Bring the content of a `version.json` to the newest format.

    Args:
        description: The content, of any format version in `FORMAT_VERSIONS`.

    Returns:
        The same description in the newest format. Fields that the older format did not have are None.

    Example:
        >>> upgrade({"format_version": 1, "rows": 4})["built_from"] is None
        True
    """
    while description["format_version"] in _UPGRADES:
        description = _UPGRADES[description["format_version"]](description)
    return description
