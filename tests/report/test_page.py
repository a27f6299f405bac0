"""The content of the page, and checks that browsers and readers can use it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from spark_joinery.report import Report, read_report, render
from spark_joinery.report.reader import NotInStoreError
from spark_joinery.store import ArtifactStore, open_store
from support.html import Page, parse

from .conftest import STRANGE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_summary_has_every_artifact(page: Page, report: Report) -> None:
    heading, *rows = page.table("All artifacts").rows()
    assert heading == ["Relation", "Kind", "Specification", "Age", "Rows", "Size", "Version", "State"]
    prefix = "spark_catalog.report_test."
    assert sorted((row[0].removeprefix(prefix), row[1], row[2], row[4]) for row in rows) == [
        ("flights", "Skew distribution", "carrier, ordered by departs_at", "100"),
        ("planes", "Bloom filter", "tailnum, where manufacturer = 'CESSNA' AND seats > 4123", "3,322"),
        ("storms", "Range index", "starts_at, ends_at, with storm_id", "9"),
        ("strange", "Skew distribution", "digits, measure, ordered by label", "32"),
        ("strange", "Skew distribution", "note, ordered by delay", "32"),
    ]
    assert {row[6] for row in rows} == {artifact.description["version"] for artifact in report.artifacts}
    states = {row[0].removeprefix(prefix): row[7] for row in rows}
    # the sources of planes and storms are unknown
    assert states == {"flights": "valid", "strange": "valid", "planes": "whole", "storms": "whole"}
    assert all(re.fullmatch(r"2\d,\d{3} d", row[3]) for row in rows)
    tiles = [(one.all("dt")[0].text, one.all("dd")[0].text) for one in page.all("dl")[0].all("div")]
    assert tiles[:4] == [("Relations", "4"), ("Skew distributions", "3"), ("Bloom filter", "1"), ("Range index", "1")]


def test_every_heavy_key_with_its_rows_and_shares(page: Page) -> None:
    article = page.article("carrier, ordered by departs_at")
    assert article.all("table")[0].rows() == [
        ["carrier", "Rows", "Share", "Parts", "Largest part"],
        ["UA", "80", "80.0 %", "4", "20.0 %"],
        ["AA", "15", "15.0 %", "–", "15.0 %"],
        ["NULL", "5", "5.00 %", "–", "5.00 %"],
    ]
    before, after = (one.text for one in article.all("p") if "busiest" in one.text or "split into" in one.text)
    assert before.startswith("80.0 % of all rows in the busiest task")
    assert after == "→20.0 % once hot keys are split into 4 parts"
    assert article.all("table")[1].rows()[1:] == [
        ["UA", "2013-01-20 00:00:002013-02-09 00:00:002013-03-01 00:00:00"],
    ]
    assert "time zone UTC" in article.all("summary")[0].text
    found = article.facts()
    assert (found["Rows"], found["Keys"], found["Hot keys"]) == ("100", "3", "1 from 20 rows")
    assert (found["NULL keys"], found["NULL in departs_at"]) == ("5.00 % of all rows", "0.0 % of all rows")
    assert found["Covers"] == "1 of 1 files of the source"
    assert len(article.all("svg")) == 2


def test_figures_of_filters_and_indexes(page: Page) -> None:
    found = page.article("tailnum").facts()
    assert found.pop("Size").endswith("B")
    assert found == {
        "Rows": "3,322",
        "Keys": "20 estimated",
        "Sized for": "24 keys",
        "Bits": "512 25.6 a key",
        "False positives": "0.72 % expected, 1.00 % asked for",
        "Covers": "1 file of the source",
    }
    assert "manufacturer = 'CESSNA' AND seats > 4123" in page.article("tailnum").text
    found = page.article("starts_at, ends_at").facts()
    assert found.pop("Size").endswith("B")
    assert found == {
        "Rows": "9",
        "Sorted runs": "2 3 files",
        "Sorted by": "starts_at, ends_at",
        "NULL bounds": "3 rows",
        "Covers": "version 42",
    }


def test_strange_keys_are_texts_and_nothing_else(page: Page) -> None:
    article = page.article("note, ordered by delay")
    cells = {row[0] for row in article.all("table")[0].rows()[1:]}
    assert cells == {
        "<script>alert(1)</script>",
        "\"quoted\" & 'single'",
        "$x_1^2$ {{ 7 * 7 }}",
        "日本語 ✈ é",
        r"left\u202eto right",
        r"two\nlines\x07",
        "x" * 79 + "…",
        "empty",
        "NULL",
    }
    labels = {one.text for svg in article.all("svg") for one in svg.all("text")}
    assert labels >= {text if len(text) <= 18 else text[:17] + "…" for text in cells - {"empty"}} | {"''"}
    assert not page.all("script")
    assert not [character for character in page.source if not character.isprintable() and character != "\n"]
    # NaN and infinities have no place on a scale, but they may be quantiles
    assert "NaN" in article.all("table")[1].text
    assert "-Infinity" in article.all("table")[1].text
    by_bytes = page.article("digits, measure").all("table")
    assert by_bytes[0].rows()[1] == ["0x003C623E", "NaN", "32", "100.0 %", "2", "50.0 %"]
    assert len(STRANGE) == len(cells)


def test_nothing_is_asked_for_from_outside(page: Page) -> None:
    assert not page.all("link", "img", "iframe", "object", "embed", "base", "form")
    targets = {value for one in page.all() for name, value in one.attributes.items() if name in ("href", "src")}
    assert {target[0] for target in targets} == {"#"}
    assert not re.search(r"https?:|//\w|@import|url\((?!#)", page.source)


def test_the_same_store_makes_the_same_page(spark: SparkSession, store: ArtifactStore, report: Report) -> None:
    again = read_report(spark, store)
    assert again.artifacts == report.artifacts
    assert render(report) == render(Report(again.store, again.artifacts, report.generated_at, again.time_zone))


def test_the_page_can_be_read_without_seeing_it(page: Page) -> None:
    (html,) = page.all("html")
    assert html.attributes["lang"] == "en"
    assert page.all("title")[0].text.startswith("Joinery report: ")
    levels = [int(one.tag[1]) for one in page.all("h1", "h2", "h3", "h4")]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels))
    for table in page.all("table"):
        assert table.all("caption")[0].text
        heading, *rows = table.all("tr")
        assert all(cell.attributes.get("scope") == "col" for cell in heading.all("th", "td"))
        assert all(row.all("th")[0].attributes["scope"] == "row" for row in rows)
        assert {len(row.all("th", "td")) for row in (heading, *rows)} == {len(heading.all("th"))}
    ids = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    named = {name for one in page.all() for name in one.attributes.get("aria-labelledby", "").split()}
    linked = {one.attributes["href"].removeprefix("#") for one in page.all("a", "use")}
    assert named | linked <= set(ids)
    for svg in page.all("svg"):
        assert svg.attributes["role"] == "img"
        assert svg.all("title")[0].text
        assert svg.all("desc")[0].text
    assert all(one.attributes["tabindex"] == "0" for one in page.all() if one.attributes.get("role") == "region")


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_stand_out(page: Page, scheme: str) -> None:
    """The limits of WCAG 2, level AA: 4.5 for text, 3 for the parts of a plot."""
    blocks = re.findall(r":root \{(.*?)\}", page.all("style")[0].text)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[scheme == "dark"]))
    pairs = [(text, back) for text in ("ink", "muted", "link", "good", "bad") for back in ("page", "card")]
    pairs += [(kind, f"{kind}-back") for kind in ("distribution", "bloom_filter", "range_index", "good", "bad")]
    assert {
        pair: contrast(*(colours[one] for one in pair)) for pair in pairs if contrast(*map(colours.get, pair)) < 4.5
    } == {}  # type: ignore[arg-type]
    assert contrast(colours["part"], colours["card"]) >= 3
    assert contrast(colours["part"], colours["whole"]) >= 3


def test_only_the_named_relations(spark: SparkSession, store: ArtifactStore) -> None:
    for name in ("flights", "report_test.flights", "spark_catalog.report_test.flights"):
        found = read_report(spark, store, [name])
        assert [artifact.relation for artifact in found.artifacts] == ["spark_catalog.report_test.flights"]
    with pytest.raises(
        NotInStoreError, match=r"is named 'fights'\. Its relations: spark_catalog\.report_test\.flights, "
    ):
        read_report(spark, store, ["flights", "fights"])


def test_an_empty_store_is_said_to_be_empty(spark: SparkSession, tmp_path: Path) -> None:
    page = parse(render(read_report(spark, open_store(spark, str(tmp_path / "nothing")))))
    assert [one.text for one in page.all("h2")] == ["The store is empty"]
    assert not page.all("table")
