"""The seal of a `version.json`: a checksum of itself.

`_current.json` only has the checksum of the version published last. If `_current.json` is lost or damaged, the seal
shows whether another version is unchanged. A single changed digit could make a filter drop rows.
"""

from __future__ import annotations

import hashlib
import re

FIELD = "own_sha256"
# content of the field while the checksum is computed
BLANK = "0" * 64
# a quotation mark inside a text is escaped, so that no text can look like the field
_FIELD = re.compile(rf'"{FIELD}": "[0-9a-f]{{64}}"'.encode())
_BLANK = f'"{FIELD}": "{BLANK}"'.encode()


def sealed(content: bytes) -> bytes:
    """Fill in the checksum.

    Args:
        content: JSON, with `BLANK` in the field `FIELD`.

    Returns:
        The content with its checksum: SHA-256 of the bytes as they were.
    """
    assert content.count(_BLANK) == 1
    return content.replace(_BLANK, f'"{FIELD}": "{hashlib.sha256(content).hexdigest()}"'.encode())


def is_broken(content: bytes) -> bool:
    """Whether a content differs from the one that was sealed.

    Args:
        content: The bytes that were read.

    Returns:
        True if it differs. False also for a content without a seal, from an older release.

    Example:
        >>> is_broken(sealed(b'{"own_sha256": "' + b"0" * 64 + b'", "blocks": 7}').replace(b"7", b"8"))
        True
    """
    blanked, seals = _FIELD.subn(_BLANK, content)
    return seals > 1 or (seals == 1 and sealed(blanked) != content)
