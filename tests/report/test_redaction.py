"""`--redact` hides every value of the source in all places of the page."""

from __future__ import annotations

import html
import re

import pytest
from spark_joinery.report import Report, redact, render
from spark_joinery.report.redaction import condition
from support.html import Page, parse

from .conftest import STRANGE

# Values that the page does not contain for another reason, as one of its words or numbers.
VALUES = [
    *("UA", "CESSNA", "BOEING", "4123", "2013-01", "2013-02", "2013-03", "0x003C", "label 0", "label 8"),
    *("4567.25", "NaN", "Infinity", "NULL<", "storm 1"),
    *(value for value in STRANGE if value),
]


@pytest.fixture(scope="module")
def redacted(report: Report) -> Page:
    return parse(render(redact(report)))


def test_no_value_of_the_source_is_left(redacted: Page, page: Page) -> None:
    assert "Values of keys, of the order columns, in conditions and in errors are hidden." in redacted.source
    source = re.sub(r"\d{8}T\d+Z", "", redacted.source)  # names of versions are times, with any digits
    for value in VALUES:
        for spelling in {value, html.escape(value), value.encode("unicode_escape").decode(), value[:12]}:
            assert spelling not in source, spelling
    # the page without redaction has such values, so the list above can find them
    assert sum(value in page.source for value in VALUES) > 10


def test_counts_shares_and_names_stay(redacted: Page) -> None:
    article = redacted.article("carrier, ordered by departs_at")
    assert article.all("table")[0].rows() == [
        ["carrier", "Rows", "Share", "Parts", "Largest part"],
        ["key 1", "80", "80.0 %", "4", "20.0 %"],
        ["key 2", "15", "15.0 %", "–", "15.0 %"],
        ["key 3", "5", "5.00 %", "–", "5.00 %"],
    ]
    assert article.all("table")[1].rows()[1:] == [["key 1", "1/42/43/4"]]
    (svg,) = article.all("svg")
    assert {"key 1", "key 2", "key 3"} < {one.text for one in svg.all("text")}
    by_two = redacted.article("digits, measure, ordered by label").all("table")[0].rows()
    assert by_two[:2] == [
        ["digits, measure", "Rows", "Share", "Parts", "Largest part"],
        ["key 1", "32", "100.0 %", "2", "50.0 %"],
    ]
    assert "manufacturer = … AND seats > …" in redacted.article("tailnum").text


def test_a_place_on_a_scale_would_be_a_value(redacted: Page, page: Page) -> None:
    assert len(page.article("carrier, ordered").all("svg")) == 2
    assert not [one for one in redacted.all("title") if one.text.startswith("Boundaries")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("manufacturer = 'CESSNA'", "manufacturer = …"),
        ("a IN ('x', \"y\") and b1 >= -4.5e-3", "a IN (…, …) and b1 >= -…-…"),
        ("`2nd col` = .5 or c2 like 'it''s'", "`2nd col` = … or c2 like ……"),
        ("d > DATE '2013-01-01' AND e is not null", "d > DATE … AND e is not null"),
        ("h = X'1F' or i = 0x1F or j = 1L", "h = X… or i = … or j = …"),
        ("k = r'a'", "k = r…"),
        ("l = 'é' and m = '日本'", "l = … and m = …"),
        # settings decide where a literal begins here, so nothing is shown
        ("n = 'a\\' or o = 'b'", "…"),
        ("p = 1 -- secret", "…"),
        ("q = /* secret */ 1", "…"),
        ("r = 'no end", "…"),
        ("s = $$secret$$", "…"),
    ],
)
def test_literals_of_conditions(text: str, shown: str) -> None:
    assert condition(text) == shown
    assert not re.search(r"secret|CESSNA|2013|日", condition(text))


def test_partitions_in_paths(report: Report) -> None:
    one = report.artifacts[0]
    moved = Report(
        "file:/lake/day=2013-01-01/joinery",
        (type(one)(one.kind, "file:/raw/flights/carrier=UA/month=1", one.spec_hash, one.description, "no /x=UA/y"),),
        report.generated_at,
        report.time_zone,
    )
    source = render(redact(moved))
    assert "2013-01-01" not in source
    assert "UA" not in source
    assert "carrier=…/<wbr>month=…" in source
