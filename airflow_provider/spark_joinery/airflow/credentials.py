"""Take credentials out of texts that people see."""

from __future__ import annotations

import re

from airflow.providers.common.compat.sdk import redact

# A match begins where it must: with all of a word before it, a long word would be read again from each letter.
_IN_URL = re.compile(r"://[^\s/@'\"]*@")
_NAMED = re.compile(
    r"(?P<name>(?:password|passwd|pwd|secret|token|access[._-]?key|api[._-]?key|sig)[\w.-]*\s*[=:]\s*)"
    r"(?P<value>\"[^\"]*\"|'[^']*'|[^\s;&,'\"]+)",
    re.IGNORECASE,
)


def without_credentials(text: str) -> str:
    """
    Hide user information of URLs, values that are named like secrets, and what Airflow knows to be secret.

    :param text: such as an error of a file system or a JDBC driver
    :return: the text with ``***`` in their place
    """
    shown = str(redact(text))
    shown = _IN_URL.sub("://***@", shown)
    return _NAMED.sub(r"\g<name>***", shown)
