"""Finds blocks, tables and headings in the pages of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
_MARKDOWN = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: The file.
        line: The number of the block's first line.
        language: The first word after the fence.
        remark: The rest of that line, which readers do not see.
        text: The content.
    """

    page: Path
    line: int
    language: str
    remark: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """List all pages, README first."""
    return [
        *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")),
        *sorted(ROOT.glob("docs/**/*.md")),
    ]


def tokens(page: Path) -> Iterator[Token]:
    """Yield the tokens of a page, including tokens inside paragraphs, headings and cells."""
    for token in _MARKDOWN.parse(page.read_text()):
        yield token
        yield from token.children or ()


def blocks(page: Path, *languages: str) -> list[Block]:
    """List the fenced blocks of a page.

    Args:
        page: The file.
        languages: The languages of the blocks; none means all.
    """
    found = []
    for token in _MARKDOWN.parse(page.read_text()):
        if token.type == "fence" and token.map:
            language, _, remark = token.info.strip().partition(" ")
            if not languages or language in languages:
                found.append(Block(page, token.map[0] + 2, language, remark, token.content))
    return found


def tables(page: Path) -> list[list[list[str]]]:
    """List the tables of a page. A table is a list of rows, heading first, and a row is a list of cells as written."""
    found: list[list[list[str]]] = []
    previous = ""
    for token in _MARKDOWN.parse(page.read_text()):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and previous in ("th_open", "td_open"):
            found[-1][-1].append(token.content)
        previous = token.type
    return found


def ragged_rows(page: Path) -> list[str]:
    """List the table rows of a page with more or fewer cells than the heading, as renderers drop extra cells."""
    lines = page.read_text().splitlines()
    found = []
    for token in _MARKDOWN.parse(page.read_text()):
        if token.type == "table_open" and token.map:
            rows = [lines[number].strip() for number in range(*token.map)]
            # an escaped bar is part of a cell
            widths = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]
            found += [row for row, width in zip(rows, widths, strict=True) if width != widths[0]]
    return found


def code_in_first_column(page: Path) -> set[str]:
    """The names in backticks in the first columns of a page's tables."""
    return {name for table in tables(page) for row in table[1:] for name in re.findall(r"^`([^`]+)`", row[0])}


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    inside = False
    found = set()
    for token in _MARKDOWN.parse(page.read_text()):
        if inside and token.type == "inline":
            found.add(re.sub(r"[^\w\- ]", "", token.content.lower()).replace(" ", "-"))
        inside = token.type == "heading_open"
    return found
