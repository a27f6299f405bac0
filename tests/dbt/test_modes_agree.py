"""Both modes give the same rows for all types and arguments that both accept.

`make test` checks a few calls of each macro. All 500, with their count::

    python -m pytest tests/dbt/test_modes_agree.py -m soak -s

The calls are the same each time, unless ``JOINERY_SEED`` sets another seed.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException
from support.answers import settings
from support.dbt_project import SCHEMA, Dbt
from support.macro_cases import ZONE, Call, Generator, load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.dbt
SEED = int(os.environ.get("JOINERY_SEED", "20269"))
BATCH = 50
BATCHES = {"last_join": 6, "range_join": 2, "skew_window": 2}  # 500 calls
FEW = 10
SETTINGS = {
    "spark.sql.session.timeZone": ZONE,
    "spark.sql.timeType.enabled": "true",
    "spark.sql.adaptive.enabled": "false",
}
STOCK = {f"spark.joinery.{name}.enabled": "false" for name in ("lastJoin", "rangeJoin", "slidingWindow")}


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, dbt: Dbt) -> Iterator[None]:
    """Load the tables, in a time zone whose clocks change."""
    with settings(spark, SETTINGS):
        load(spark, SEED)
        yield
    for side in "lr":
        spark.sql(f"drop table {SCHEMA}.of_{side}")


def rendered(dbt: Dbt, calls: list[Call], mode: str) -> list[str]:
    """The SQL of some calls, all of the same macro."""
    texts = dbt.render_all(calls[0].macro, [json.loads(json.dumps(call.arguments)) for call in calls], mode)
    return [call.ctes + text for call, text in zip(calls, texts, strict=True)]


def answer(spark: SparkSession, sql: str) -> tuple[Counter[str], bool] | None:
    """The rows, and whether any row has a right value; None if Spark refuses. -0.0 becomes 0.0, as both are equal."""
    try:
        frame = spark.sql(sql)
        named = frame.toDF(*(f"c{n}" for n in range(len(frame.columns))))
        found = named.selectExpr("string(struct(*))", f"c{len(frame.columns) - 1} is not null").collect()
    except PySparkException:
        return None
    return Counter(text.replace("-0.0", "0.0") for text, _ in found), any(is_found for _, is_found in found)


def check(spark: SparkSession, dbt: Dbt, macro: str, count: int, seed: int) -> str:
    """Compare a number of calls of a macro; more than half must find right rows. Returns the counts as text."""
    generator = Generator(seed)
    counts: Counter[str] = Counter()
    while counts["compared"] < count:
        calls = generator.calls(macro, count)
        modes = rendered(dbt, calls, "portable"), rendered(dbt, calls, "extension")
        for call, portable, extension in zip(calls, *modes, strict=True):
            with settings(spark, STOCK):
                plain = answer(spark, portable)
            jar = answer(spark, extension)
            if plain is None or jar is None:
                counts["refused by both" if plain == jar else f"refused by {'jar' if plain else 'portable'}"] += 1
                continue
            assert jar == plain, (
                f"{call}\nportable: {portable}\nextension: {extension}\n"
                f"only portable: {dict(plain[0] - jar[0])}\nonly extension: {dict(jar[0] - plain[0])}"
            )
            counts.update(["compared", "with right rows"] if plain[1] else ["compared"])
            if counts["compared"] == count:
                break
    assert counts["with right rows"] > count / 2
    return f"{macro}: {dict(counts)}"


@pytest.mark.parametrize("macro", BATCHES)
def test_both_modes_agree_on_a_few_calls(spark: SparkSession, dbt: Dbt, macro: str) -> None:
    check(spark, dbt, macro, FEW, SEED)


@pytest.mark.soak
@pytest.mark.parametrize(("macro", "batch"), [(macro, n) for macro, count in BATCHES.items() for n in range(count)])
def test_both_modes_agree_on_all_calls(spark: SparkSession, dbt: Dbt, macro: str, batch: int) -> None:
    print(check(spark, dbt, macro, BATCH, SEED + batch))
