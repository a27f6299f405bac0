"""Take credentials out of texts that people see."""

from __future__ import annotations

import re

from airflow.providers.common.compat.sdk import redact

_IN_URL = re.compile(r"://[^\s/@'\"]*@")
_SECRET = r"password|passwd|pwd|secret|token|access[._-]?key|api[._-]?key|sig"
# A match begins at the start of a word, and a lookahead takes the whole word at once. A search that began at each of
# its letters, or gave letters back, would take quadratic time for a long word.
_NAMED = re.compile(
    rf"(?<![\w.-])(?=[\w.-]*?(?:{_SECRET}))(?=(?P<word>[\w.-]+))"
    r"(?P<name>(?P=word)\s*[=:]\s*)(?P<value>\"[^\"]*\"|'[^']*'|[^\s;&,'\"]+)",
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
