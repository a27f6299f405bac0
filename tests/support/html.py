"""Parses HTML, as far as tests need it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "wbr", "br", "hr", "link", "img", "input"}


@dataclass
class Element:
    """An element of a page.

    Attributes:
        tag: The tag's name.
        attributes: The attributes' names and values.
        children: Elements and texts, in order.
    """

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in the element, with white space reduced to single blanks."""
        return " ".join(self._raw().split())

    def _raw(self) -> str:
        return "".join(child if isinstance(child, str) else child._raw() for child in self.children)

    def all(self, *tags: str) -> list[Element]:
        """List the inner elements with one of these names, in the order of the page; no names mean all."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                found += [child] if not tags or child.tag in tags else []
                found += child.all(*tags)
        return found

    def rows(self) -> list[list[str]]:
        """The texts of a table's cells, row by row, heading first."""
        return [[cell.text for cell in row.all("th", "td")] for row in self.all("tr")]

    def facts(self) -> dict[str, str]:
        """The names and figures in the element's description lists."""
        found = [one for one in self.all("div") if one.all("dt")]
        return {one.all("dt")[0].text: one.all("dd")[0].text for one in found}


@dataclass
class Page:
    """A page, with its source and the tree of its elements."""

    source: str
    root: Element

    def all(self, *tags: str) -> list[Element]:
        """List elements, see `Element.all`."""
        return self.root.all(*tags)

    def table(self, caption: str, number: int = 0) -> Element:
        """Find a table by the beginning of its caption."""
        tables = [one for one in self.all("table") if one.all("caption")[0].text.startswith(caption)]
        return tables[number]

    def article(self, heading: str) -> Element:
        """Find an article by a part of its heading."""
        (found,) = [one for one in self.all("article") if heading in one.all("h3")[0].text]
        return found


class _Parser(HTMLParser):
    """Builds the tree, and insists on end tags, because browsers repair missing ones in different ways."""

    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("")]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"<{tag}> at {self.getpos()} has an attribute twice: {names}"
        element = Element(tag, {name: value or "" for name, value in attributes})
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> at {self.getpos()} closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(source: str) -> Page:
    """Parse a page.

    Raises:
        AssertionError: If the elements do not nest.
    """
    parser = _Parser()
    parser.feed(source)
    parser.close()
    assert len(parser.open) == 1, f"<{parser.open[-1].tag}> is never closed"
    return Page(source, parser.open[0])
