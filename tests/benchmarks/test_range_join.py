"""The range join benchmark, tested on tiny data, without judging times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from benchmarks.common.rounds import NO_CODEGEN, OURS, POLARS
from benchmarks.common.store import refresh
from benchmarks.common.verdict import judge
from benchmarks.range_join import history, index, overlap, point, point_1m, point_left, stored, validity, worst
from benchmarks.range_join import queries as q
from benchmarks.range_join.data import STAGGERED, tables
from benchmarks.range_join.run import FIRST, OPERATOR, SHUFFLED_OPERATOR, Case, measure
from benchmarks.range_join.sums import RowSums, Sums

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCALE = 0.0002
LARGER_SCALE = 0.01  # for tables that are small at full scale: fewer rows would have a single key


@pytest.fixture(scope="module")
def bench(spark: SparkSession) -> Iterator[SparkSession]:
    yield spark
    for view in ("l", "r", FIRST):
        spark.catalog.dropTempView(view)


# One case of each kind, with bins of one or two widths, as other sizes test the same. No time is judged.
FEW = [point.CASES[0], point_left.CASES[1], overlap.CASES[0], history.CASES[-1]]
OTHERS = [*validity.CASES, *history.CASES[:-1], *worst.CASES]


def of_the_kind(case: Case) -> Case:
    return replace(case, binned=case.binned[-2:], bounds=())


@pytest.mark.parametrize(
    "case",
    [*map(of_the_kind, FEW), *(pytest.param(of_the_kind(case), marks=pytest.mark.soak) for case in OTHERS)],
    ids=lambda case: case.name,
)
def test_every_engine_gives_the_same_answer(bench: SparkSession, case: Case) -> None:
    scale = LARGER_SCALE if case.shape.right <= 50_000 else SCALE
    outcome = measure(bench, case, scale, first_runs=False)
    assert judge("test", "test", [outcome], SCALE).met, [m.problem for m in outcome.engines.values()]
    shuffled = [q.SHUFFLED] if case.shuffled else []
    ours = [OURS, NO_CODEGEN, *(f"{OURS}, {side} indexed" for side in case.indexed)]
    assert {*ours, *shuffled, *case.peers, *(binned.name for binned in case.binned), *q.floors(case.question)} == set(
        outcome.engines
    )
    assert all(m.checked for name, m in outcome.engines.items() if not name.startswith("floor"))
    operator = OPERATOR if case.broadcast else SHUFFLED_OPERATOR
    assert all(outcome.engines[name].operators == [operator] for name in ours)
    assert all(outcome.engines[name].operators == [SHUFFLED_OPERATOR] for name in shuffled)
    for side in case.indexed:
        plan = outcome.engines[f"{OURS}, {side} indexed"].runs[-1].plan
        assert f"Indexed side: {'left' if side == 'l' else 'right'}" in plan


GROUPS = (point, point_1m, point_left, overlap, validity, history, worst)


@pytest.mark.parametrize("case", [case for group in GROUPS for case in group.CASES], ids=lambda case: case.name)
def test_bounds_are_of_engines_that_run(case: Case) -> None:
    """A bound on a missing engine must fail here, not after an hour of measuring."""
    required = {peer for bound in case.bounds for peer in bound.peers}
    assert required
    assert required <= {*case.peers, *(binned.name for binned in case.binned)}


def test_a_wrong_answer_fails_the_case(bench: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    polars = q.polars_query
    monkeypatch.setattr(
        "benchmarks.range_join.queries.polars_query",
        lambda question, files: polars(question, files).limit(7),
    )
    case = replace(overlap.CASES[0], peers=(POLARS,), binned=(), bounds=())
    result = judge("test", "test", [measure(bench, case, SCALE, first_runs=False)], SCALE)
    assert not result.met
    assert result.verdict.startswith("Polars answers (")


def test_a_stored_index(bench: SparkSession, tmp_path: Path) -> None:
    """A query with a store loads the index and answers as with one built on the spot; no time is judged."""
    files = tables(stored.addresses(2_000, 1_000))
    bench.read.parquet(str(files["r"])).createOrReplaceTempView("r")
    bench.read.parquet(str(files["l"])).createOrReplaceTempView("l")
    bench.conf.set("spark.joinery.store.timeout", "30s")
    try:
        seconds = refresh(bench, files["r"], stored.index_spec(), str(tmp_path))
        ran = stored.measure(bench, stored.ways(bench, str(tmp_path)), 1)
    finally:
        bench.conf.unset("spark.joinery.store.timeout")
    assert stored.result(ran, seconds, 2_000, 1_000, judged=False).met, ran
    ran[stored.LOADED_NAME] = replace(ran[stored.LOADED_NAME], index_s=ran[stored.BUILT_NAME].index_s / 4.9)
    assert "at least 5" in stored.result(ran, seconds, 2_000, 1_000, judged=True).verdict


def test_cost_of_an_index(bench: SparkSession) -> None:
    costs = [index.cost(bench, ranges, 0.001) for ranges in index.RANGES[:2]]
    assert [(cost.ranges, cost.points) for cost in costs] == [(1000, 1000), (2000, 1000)]
    result = index.result(costs)
    assert result.met, result.verdict
    assert all(cost.size and cost.probe_cpu_s > 0 for cost in costs)
    assert [len(result.rows), len(result.sections[0].rows)] == [2, 1]
    assert all(len(row) == len(result.columns) for row in result.rows)


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [
        ({"operators": []}, "8 ranges: no operator"),
        ({"reused": False}, "8 ranges: the index is built twice"),
        ({"problem": "answers 2"}, "8 ranges: the join in two halves answers 2"),
    ],
)
def test_problems_of_an_index(wrong: dict[str, object], verdict: str) -> None:
    cost = index.Cost(8, 4, 1.0, 0.5, 0.4, "1 KiB", 1.5, [OPERATOR], True, "")
    assert index.result([cost]).met
    failed = index.result([cost, replace(cost, **wrong)])  # type: ignore[arg-type]
    assert not failed.met
    assert failed.verdict == verdict


@pytest.mark.parametrize(("shown", "found"), [("12 ms", 0.012), ("1,500 ms", 1.5), ("1.5 s", 1.5), ("1.5 m", 90)])
def test_times_of_metrics(shown: str, found: float) -> None:
    assert index.seconds(shown) == pytest.approx(found)


def test_a_share_is_compared_with_the_same_rows() -> None:
    ours = Sums((5,), (3,))
    assert RowSums().differ(Sums((), (3,)), ours) == ""
    assert RowSums().differ(Sums((), (2,)), ours) == "answers (2,), Joinery (3,)"
    assert RowSums().differ(Sums((4,), (3,)), ours) == "answers (4,), Joinery (5,)"


def matches(case: Case, scale: float) -> tuple[int, int]:
    """The number of rows in `l`, and in the answer."""
    files = tables(case.shape.scaled(scale))
    with duckdb.connect() as connection:
        for name, folder in files.items():
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM '{folder}/*.parquet'")
        query = f"SELECT (SELECT count(*) FROM l), (SELECT count(*) FROM ({q.range_join(case.question)}))"
        rows, found = connection.execute(query).fetchall()[0]
    return rows, found


def test_data() -> None:
    rows, found = matches(point.CASES[0], 0.001)
    assert rows == 1500
    assert 0.8 < found / rows < 0.97  # no point is in two ranges, and some are in none
    rows, found = matches(overlap.CASES[0], 0.001)
    assert 4 < found / rows < 6
    rows, found = matches(validity.CASES[0], 0.002)
    assert rows == 10_000
    assert 0.4 < found / rows < 0.95
    rows, found = matches(replace(overlap.CASES[0], shape=STAGGERED), 0.01)
    assert 0.4 < found / (rows * 200) < 0.5
