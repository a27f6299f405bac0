"""The benchmark of runtime filters, tested on tiny data, without judging times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from support.answers import settings

from benchmarks.common.spark import register
from benchmarks.common.store import refresh
from benchmarks.runtime_filter.data import tables
from benchmarks.runtime_filter.run import CASES, NO_BROADCAST, OURS, STORED, Case, filter_spec, measure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCALE = 0.001


@pytest.fixture(scope="module")
def bench(spark: SparkSession) -> Iterator[SparkSession]:
    register(spark, tables(SCALE))
    with settings(spark, NO_BROADCAST | {"spark.joinery.runtimeFilter.applicationSideMinSize": "0"}):
        yield spark
    for view in tables(SCALE):
        spark.catalog.dropTempView(view)


@pytest.fixture(scope="module")
def store(bench: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("store"))
    refresh(bench, tables(SCALE)["dim"], filter_spec(), folder)
    return folder


# The other cases have so few rows at this scale that adaptive execution drops the join.
@pytest.mark.parametrize("case", [*CASES[:6:2], *(c for c in CASES if c.ours == STORED)], ids=lambda case: case.name)
def test_ways_agree_and_only_joinery_has_filters_of_its_own(bench: SparkSession, store: str, case: Case) -> None:
    ran = measure(bench, case, tables(SCALE), store, rounds=1)
    assert not [one.problem for one in ran.values() if one.problem]
    assert {name for name, one in ran.items() if one.fired} == {name for name in ran if name.startswith(OURS)}
    assert {name for name, one in ran.items() if one.built} == {name for name in ran if name.startswith(OURS)} - {
        STORED
    }
    assert all(one.seconds for one in ran.values())
