"""The report shows damaged, half written or unknown artifacts as such, and still shows the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from spark_joinery.metadata import BloomFilterSpec, DistributionSpec, RangeIndexSpec
from spark_joinery.report import read_report, render
from spark_joinery.store import ArtifactStore, open_store
from support.html import Page, parse

from .conftest import publish

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BY_KEY = DistributionSpec(partition_by=["key"], order_by="at", quantiles=4)
LAYOUT = "key string, row_count bigint, is_hot boolean, quantiles array<int>"


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> ArtifactStore:
    """A store with one range index, which is whole."""
    store = open_store(spark, str(tmp_path / "store"))
    publish(
        store,
        "a.whole",
        RangeIndexSpec(point="at"),
        spark.range(1),
        rows=1,
        runs=[["run-0/f.parquet"]],
        columns=["at"],
        sorted_by=["at"],
    )
    return store


def shown(spark: SparkSession, store: ArtifactStore) -> Page:
    page = parse(render(read_report(spark, store)))
    assert any(row[0] == "spark_catalog.a.whole" and row[-1] == "whole" for row in page.table("All").rows())
    return page


def problems(page: Page) -> list[str]:
    return [one.text for one in page.all("p") if one.attributes.get("class") == "problem"]


def distribution(spark: SparkSession, store: ArtifactStore, keys: list[Any], /, **fields: Any) -> Path:
    frame = spark.createDataFrame(keys, fields.pop("layout", LAYOUT))
    return publish(store, "a.b", BY_KEY, frame, **{"rows": 100, "hot_keys": 1, **fields})


def damage_data(version: Path) -> None:
    for file in version.glob("data/*.parquet"):
        file.write_bytes(file.read_bytes()[:-1])


def damage_manifest(version: Path) -> None:
    (version / "version.json").write_text("{")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (damage_data, "no valid version is left"),
        (damage_manifest, "version.json has a wrong checksum"),
    ],
)
def test_a_damaged_artifact_is_shown_with_the_reason(
    spark: SparkSession, store: ArtifactStore, damage: Callable[[Path], None], reason: str
) -> None:
    damage(distribution(spark, store, [("a", 1, False, None)]))
    page = shown(spark, store)
    (problem,) = problems(page)
    assert problem.startswith("Damaged: ")
    assert reason in problem
    row = next(row for row in page.table("All").rows() if row[0] == "spark_catalog.a.b")
    assert (row[1], row[-1]) == ("Skew distribution", "damaged")
    assert row[2].startswith("specification ")


def test_a_first_refresh_that_is_still_running_is_no_artifact(spark: SparkSession, store: ArtifactStore) -> None:
    store.begin("distribution", "spark_catalog.a.b", "0123456789abcdef")
    assert len(shown(spark, store).table("All").rows()) == 2


def test_an_older_version_in_use_is_shown_with_the_reason(spark: SparkSession, store: ArtifactStore) -> None:
    distribution(spark, store, [("a", 1, False, None)])
    damage_data(distribution(spark, store, [("a", 2, False, None)]))
    page = shown(spark, store)
    assert "is used" in problems(page)[0]
    assert page.article("key, ordered by at").all("table")[0].rows()[1][:2] == ["a", "1"]


def test_data_that_spark_cannot_read_and_descriptions_of_others(spark: SparkSession, store: ArtifactStore) -> None:
    distribution(spark, store, [(1,)], layout="something int")
    publish(store, "a.foreign", BloomFilterSpec(keys=["k"]), spark.range(1), keys=1)
    (Path(store.root.removeprefix("file:")) / "bloom_filter" / "notes.txt").write_text("not ours")
    found = problems(shown(spark, store))
    assert len(found) == 2
    assert "its data cannot be read (" in found[0]
    assert "version.json has no 'blocks'" in found[1]


@pytest.mark.parametrize(
    ("row", "layout", "largest"),
    [
        # three boundaries between four equal parts
        (("a", 60, True, [1, 2, 3]), LAYOUT, "15.0 %"),
        # two of the three boundaries were equal, so one part has a half
        (("a", 60, True, [1, 2]), LAYOUT, "30.0 %"),
        # all values are NULL
        (("a", 60, True, []), LAYOUT, "60.0 %"),
        # 20 rows without an order value share a part with a quarter of the other 40
        (("a", 60, True, [1, 2, 3], 20, 0.01), LAYOUT + ", null_count bigint, rank_error double", "30.0 %"),
        (("a", 60, False, None), LAYOUT, "60.0 %"),
    ],
)
def test_the_largest_part(
    spark: SparkSession, store: ArtifactStore, row: tuple[object, ...], layout: str, largest: str
) -> None:
    distribution(spark, store, [row], layout=layout)
    article = shown(spark, store).article("key, ordered by at")
    assert article.all("table")[0].rows()[1][-1] == largest


def test_a_relation_without_rows(spark: SparkSession, store: ArtifactStore) -> None:
    distribution(spark, store, [], rows=0, keys=0, hot_keys=0)
    assert "The relation has no rows." in shown(spark, store).article("key, ordered by at").text


def test_only_the_heaviest_keys_are_shown(spark: SparkSession, store: ArtifactStore) -> None:
    rows = [(f"k{i:02}", i, i > 25, [1, 2, 3] if i > 25 else None) for i in range(31)]
    distribution(spark, store, rows, rows=465, keys=31, keys_relative_error=0.02, hot_from=26, rank_error=0.008)
    article = shown(spark, store).article("key, ordered by at")
    table, quantiles = article.all("table")
    assert table.all("caption")[0].text == "The 20 heaviest keys"
    assert [row[0] for row in table.rows()[1:]] == [f"k{i:02}" for i in range(30, 10, -1)]
    assert len(quantiles.rows()) == 6
    facts = article.facts()
    assert (facts["Keys"], facts["Hot keys"]) == ("31 ± 2.00 %", "1 from 26 rows")
    assert facts["Rank error"] == "≤ 0.80 % of a key's rows"
    # k25 is not split
    assert "5.38 % once hot keys are split" in article.text


def test_not_all_of_a_thousand_boundaries_are_shown(spark: SparkSession, store: ArtifactStore) -> None:
    spec = DistributionSpec(partition_by=["key"], order_by="at", quantiles=1024)
    frame = spark.createDataFrame([("a", 4096, True, list(range(1023)))], LAYOUT)
    publish(store, "a.b", spec, frame, rows=4096, keys=1, hot_keys=1)
    article = shown(spark, store).article("key, ordered by at")
    keys, quantiles = article.all("table")
    assert keys.rows()[1] == ["a", "4,096", "100.0 %", "1024", "0.10 %"]
    assert quantiles.all("caption")[0].text == "Boundaries between the parts of hot keys (int), one of 16"
    assert [one.text for one in quantiles.all("td")[0].all("bdi")] == [str(16 * i) for i in range(64)]
    assert len(str(article)) < 150_000


def test_a_folder_named_after_a_path(spark: SparkSession, store: ArtifactStore) -> None:
    damage_manifest(publish(store, "parquet.`/raw/a b`", BloomFilterSpec(keys=["k"]), spark.range(1)))
    assert "file:/raw/a b" in [one.text for one in shown(spark, store).all("h2")]


def test_names_are_texts(spark: SparkSession, store: ArtifactStore) -> None:
    """Hostile names of relations and columns are shown as text, too."""
    spec = BloomFilterSpec(keys=["<b>&\u202e", "b\x00c"], where="a = '</code><script>'")
    publish(store, "x.`<i>\"t'`", spec, spark.range(1), keys=1, blocks=1, fpp=0.1, expected_fpp=0.1, rows=1)
    page = shown(spark, store)
    assert not page.all("script", "i", "b")
    article = page.article("<b>&\\u202e, b\\x00c, where a = '</code><script>'")
    assert article.all("code")[-1].text == "a = '</code><script>'"
    assert page.all("h2")[-1].text == "spark_catalog.x.`<i>\"t'`"
