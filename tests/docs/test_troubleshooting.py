"""The messages on the page about troubleshooting occur in the code."""

from __future__ import annotations

import re

import pytest
from support.documentation import ROOT, blocks

SOURCES = (
    "airflow_provider/**/*.py",
    "dbt_macros/macros/**/*.sql",
    "jvm/src/main/**/*.scala",
    "jvm/src/main/**/*.java",
)
MESSAGES = [
    line
    for block in blocks(ROOT / "docs" / "how-to" / "troubleshooting.md", "text")
    for line in block.text.splitlines()
]


@pytest.fixture(scope="module")
def texts() -> str:
    """The text of the sources, where string literals that follow each other are joined."""
    sources = " ".join(path.read_text() for pattern in SOURCES for path in sorted(ROOT.glob(pattern)))
    # `"one " + s"two"`, `"one " f"two"` and `"one " ~ "two"`
    return re.sub(r'"\s*[+~]?\s*[sf]?"', "", " ".join(sources.split()))


@pytest.mark.parametrize("message", MESSAGES)
def test_the_code_says_so(message: str, texts: str) -> None:
    fixed = [part.strip() for part in message.split("...")]
    missing = [part for part in fixed if len(part) > 2 and part not in texts]
    assert not missing


def test_messages_have_fixed_parts() -> None:
    assert MESSAGES
    assert all(max(map(len, message.split("..."))) > 8 for message in MESSAGES)
