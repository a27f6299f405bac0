"""Runtime filters next to the same query without them, Spark's own filter, forced on, DuckDB and Polars."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchmarks.common.engines import Digest, DuckDB, Engine, Polars, polars_library
from benchmarks.common.fresh import first_run
from benchmarks.common.spark import Spark, register, session
from benchmarks.common.store import refresh
from benchmarks.report import Result
from benchmarks.runtime_filter.data import tables

if TYPE_CHECKING:
    import polars
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession
    from spark_joinery.metadata import BloomFilterSpec

ROUNDS = 3
SLOW = 5.0  # seconds: a way that takes longer runs once, except in close cases
OPERATOR = "joinery_might_contain"
NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
COUNTED = {"spark.hadoop.parquet.hadoop.vectored.io.enabled": "false"}  # so that all bytes that are read are counted
OFF = {"spark.joinery.runtimeFilter.enabled": "false"}
FORCED = OFF | {
    "spark.sql.optimizer.runtime.bloomFilter.applicationSideScanSizeThreshold": "0",
    "spark.sql.optimizer.runtime.bloomFilter.creationSideThreshold": "10g",
}
FLOOR = "floor: scan"
SMALL = "floor: scan of the small side"
STORE = "spark.joinery.store"
BUILD = " keys of "  # in plans that build a filter
OURS, STORED, INTERPRETED, NONE, SPARKS, DUCKDB, POLARS, BLOOM_ONLY = (
    "joinery",
    "joinery, filter of the store",
    "joinery, interpreted",
    "no filter",
    "Spark's filter, forced on",
    "DuckDB",
    "Polars",
    "joinery, nothing skipped by the reader",
)
WAYS: dict[str, dict[str, str]] = {
    OURS: {},
    INTERPRETED: {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"},
    NONE: OFF,
    SPARKS: FORCED,
    BLOOM_ONLY: {"spark.sql.parquet.filterPushdown": "false"},
    STORED: {},  # and the store
}
SELECTED = "(SELECT * FROM dim WHERE class = 7)"
# The same rows, from a side that might return other rows when it is read again.
ONCE = "(SELECT * FROM dim WHERE class = 7 AND spark_partition_id() >= 0)"


COLUMNS = [
    *("case", "way", "median, s", "times Joinery's", "first run in a fresh JVM, s", "shuffled, MB", "read, MB"),
    *("required", "reached", ""),
]
NOTES = [
    f"Medians of {ROUNDS} rounds after one that was compared, each way in turn; one above {SLOW:g} s once. Close cases "
    "(unselective ones, a filter of the store next to one that is built) have twice as many rounds, also of slow "
    "ways, every other one in the reverse order. At Spark's defaults (200 shuffle partitions) and "
    "spark.sql.autoBroadcastJoinThreshold -1. "
    "Every row and column goes to the noop sink; of DuckDB to a temporary table, of Polars to a DataFrame, on two "
    "threads each. Counts and sums are compared before.",
    "Spark's filter is forced on by spark.sql.optimizer.runtime.bloomFilter.applicationSideScanSizeThreshold 0 and "
    "creationSideThreshold 10g. The filter of the store has where: class = 7. Nothing skipped by the "
    "reader: spark.sql.parquet.filterPushdown false.",
    "Shuffled and read: bytes of all tasks of the last run, the build of filters with them; so that all is counted, "
    "Parquet's vectored reading is off. The floor scans the columns of the large side, with stock Spark.",
    "What is required of bytes read is required of those of the large side: what the small side's scan reads is taken "
    "off, twice where a filter is built.",
]


@dataclass(frozen=True)
class Need:
    """The ratios that Joinery has to reach against another way.

    Args:
        time: At least the other's median, divided by Joinery's.
        shuffle: At least the bytes that it shuffles, divided by Joinery's.
        read: At least the bytes that it reads of the large side, divided by Joinery's.
    """

    time: float = 0
    shuffle: float = 0
    read: float = 0


@dataclass(frozen=True)
class Case:
    """A query of columns `id` and `m`.

    Args:
        name: The name on the page.
        sql: The query.
        needs: The ratios to reach, by the name of the other way.
        ways: Further ways, which are shown.
        ours: The way with which others are compared.
        close: Whether its ways take about as long. All then run equally often, in an order that alternates.
        first: Whether it runs in fresh JVMs, too.
        floor: A query that reads the same of the large side, and keeps nothing.
        small: A query that reads the same of the small side.
    """

    name: str
    sql: str
    needs: Mapping[str, Need]
    ways: tuple[str, ...] = ()
    ours: str = OURS
    close: bool = False
    first: bool = False
    floor: str = ""
    small: str = ""


CASES = [
    Case(
        "20 M facts, 1,000 of 1 M keys",
        f"SELECT f.id, f.m + length(d.label) AS m FROM fact f JOIN {SELECTED} d ON f.k = d.k",
        {NONE: Need(time=6, shuffle=50), SPARKS: Need(time=1.2), DUCKDB: Need(time=0.5)},
        (POLARS, INTERPRETED),
        first=True,
        floor="SELECT id, m FROM fact WHERE k + m < 0",
    ),
    Case(
        "the same, by two keys",
        f"SELECT f.id, f.m + length(d.label) AS m FROM fact f JOIN {SELECTED} d ON f.k = d.k AND f.p = d.p",
        {NONE: Need(time=3)},
        (SPARKS,),
    ),
    Case(
        "small left outer join big right",
        f"SELECT d.k AS id, f.m AS m FROM {SELECTED} d LEFT JOIN fact f ON f.k = d.k",
        {NONE: Need(time=3)},
        (SPARKS,),
    ),
    Case(
        "small LAST JOIN big right, as of",
        f"SELECT d.k AS id, unix_micros(f.at) AS m FROM {SELECTED} d LAST JOIN fact f ORDER BY f.at "
        "ON f.k = d.k AND f.at <= d.since",
        {NONE: Need(time=3)},
    ),
    Case(
        "chain: small, fact, second fact, by one key",
        f"SELECT f.id, s.n AS m FROM fact f JOIN {SELECTED} d ON f.k = d.k JOIN second s ON f.k = s.k",
        {NONE: Need(shuffle=50), SPARKS: Need()},
    ),
    Case(
        "chain whose second join is by another column",
        f"SELECT f.id, s.n AS m FROM fact f JOIN {SELECTED} d ON f.k = d.k JOIN second s ON f.j = s.j",
        {SPARKS: Need(shuffle=10), NONE: Need()},
    ),
    Case(
        "keys within a hundredth of the fact's, which is sorted by them",
        "SELECT f.id, f.m FROM sorted f JOIN (SELECT * FROM dim WHERE region = 50 AND class < 100) d ON f.k = d.k",
        {BLOOM_ONLY: Need(time=1.5, read=20)},
        (NONE,),
        small="SELECT k AS id, class AS m FROM dim WHERE region = 50 AND class < 100",
    ),
    Case(
        "20 M facts by a filter of the store, of the rows with a predicate",
        f"SELECT f.id, f.m + length(d.label) AS m FROM fact f JOIN {SELECTED} d ON f.k = d.k",
        {OURS: Need(time=1.2)},
        ours=STORED,
        close=True,
    ),
    Case(
        "20 M facts, keys that are known once they are shuffled",
        f"SELECT f.id, f.m + length(d.label) AS m FROM fact f JOIN {ONCE} d ON f.k = d.k",
        {NONE: Need()},
    ),
    Case(
        "unselective: 999 of 1,000 keys",
        "SELECT f.id, f.m FROM fact f JOIN (SELECT * FROM dim WHERE class >= 1) d ON f.k = d.k",
        {NONE: Need(time=0.95)},
        close=True,
    ),
    Case(
        "the same, with the hint RUNTIME_FILTER(d)",
        "SELECT /*+ RUNTIME_FILTER(d) */ f.id, f.m FROM fact f "
        "JOIN (SELECT * FROM dim WHERE class >= 1) d ON f.k = d.k",
        {NONE: Need()},
        close=True,
    ),
]


@dataclass
class Ran:
    """The runs of a way.

    Args:
        seconds: Seconds of each run.
        shuffled: MB written by shuffles.
        read: MB read from files.
        first: Seconds of the first run in a fresh JVM; 0 without one.
        fired: Whether the plan has a filter of Joinery.
        built: Whether the query builds a filter.
        problem: The difference of its answer.
    """

    seconds: list[float] = field(default_factory=list)
    shuffled: float = 0
    read: float = 0
    first: float = 0
    fired: bool = False
    built: bool = False
    problem: str = ""

    @property
    def median(self) -> float:
        """Median seconds of its runs."""
        return statistics.median(self.seconds)


class RowSums(Digest):
    """A count, and sums over the columns and over products of them."""

    SUMS = "count(*), sum(id), sum(m), sum((id % 1009) * (m % 1013))"

    def spark(self, session: SparkSession, sql: str) -> Any:
        """See `Digest`."""
        return tuple(int(value or 0) for value in session.sql(f"SELECT {self.SUMS} FROM ({sql})").collect()[0])

    def duckdb(self, connection: DuckDBPyConnection, sql: str) -> Any:
        """See `Digest`."""
        row = connection.execute(f"SELECT {self.SUMS} FROM ({sql})").fetchone()
        return tuple(int(value or 0) for value in row or ())

    def polars(self, answer: polars.DataFrame) -> Any:
        """See `Digest`."""
        product = (answer["id"] % 1009) * (answer["m"] % 1013)
        return (answer.height, *(int(column.sum()) for column in (answer["id"], answer["m"], product)))

    def differ(self, theirs: Any, ours: Any) -> str:
        """See `Digest`."""
        return "" if theirs == ours else f"answers {theirs}, Joinery {ours}"


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the data. Below 1 only agreement is judged.

    Returns:
        Seconds and bytes of each way. They are not met if a ratio is missed or answers differ.
    """
    files = tables(scale)
    minimum = {} if scale == 1 else {"spark.joinery.runtimeFilter.applicationSideMinSize": "0"}
    spark = session(NO_BROADCAST | COUNTED | minimum)
    try:
        register(spark, files)
        with tempfile.TemporaryDirectory() as store:
            refresh(spark, files["dim"], filter_spec(), store)
            ran = {case.name: measure(spark, case, files, store, ROUNDS if scale == 1 else 1) for case in CASES}
    finally:
        spark.stop()
    if scale == 1:
        for case in CASES:
            for name in [case.ours, *case.needs] if case.first else []:
                if name in WAYS:
                    first = first_run(case.sql, NO_BROADCAST | WAYS[name], files, joinery=name == OURS)
                    ran[case.name][name].first = first.seconds
    return _result(ran, judged=scale == 1)


def filter_spec() -> BloomFilterSpec:
    """The filter of the keys of `dim` that queries select."""
    from spark_joinery.metadata import BloomFilterSpec

    return BloomFilterSpec(keys=["k"], where="class = 7")


def polars_query(files: Mapping[str, Path]) -> polars.LazyFrame:
    """The first case in Polars."""
    pl = polars_library()
    fact, dim = (pl.scan_parquet(files[name] / "*.parquet") for name in ("fact", "dim"))
    joined = fact.join(dim.filter(pl.col("class") == 7), on="k")
    return joined.select("id", m=pl.col("m") + pl.col("label").str.len_chars())


def measure(spark: SparkSession, case: Case, files: Mapping[str, Path], store: str, rounds: int) -> dict[str, Ran]:
    """Run each way in turn, after their answers were compared.

    Args:
        spark: The session for Joinery and stock Spark.
        case: The case to run.
        files: The tables.
        store: The store with the filter.
        rounds: Runs of each way. Slow ways run once, except in close cases.
    """
    digest = RowSums()
    engines: dict[str, Engine] = {}
    for name in dict.fromkeys([case.ours, *case.needs, *case.ways]):
        if name == DUCKDB:
            engines[name] = DuckDB(case.sql, files, digest)
        elif name == POLARS:
            engines[name] = Polars(polars_query(files), digest)
        else:
            engines[name] = Spark(spark, case.sql, WAYS[name] | ({STORE: store} if name == STORED else {}), digest)
    floors = {name: sql for name, sql in ((FLOOR, case.floor), (SMALL, case.small)) if sql}
    engines |= {name: Spark(spark, sql, OFF, digest) for name, sql in floors.items()}
    ran = {name: Ran() for name in engines}
    truth = None
    for name, engine in engines.items():
        found = engine.check().digest
        truth = found if name == case.ours else truth
        ran[name].problem = "" if name in floors else digest.differ(found, truth)
    for round_ in range(2 * rounds if case.close else rounds):
        in_turn = list(engines.items())
        for name, engine in reversed(in_turn) if case.close and round_ % 2 else in_turn:
            if not case.close and any(seconds > SLOW for seconds in ran[name].seconds):
                continue
            done = engine.answer()
            ran[name].seconds.append(done.seconds)
            ran[name].shuffled, ran[name].read = done.shuffled, done.read
            ran[name].fired, ran[name].built = OPERATOR in done.plan, BUILD in done.plan
    click.echo(f"{case.name}: " + ", ".join(f"{name} {one.median:.2f} s" for name, one in ran.items()))
    return ran


def read_of_large(one: Ran, ways: Mapping[str, Ran]) -> float:
    """MB that a way reads of the large side, or of both sides without a floor for the small side."""
    small = ways.get(SMALL, Ran()).read
    return one.read - small * (2 if one.built else 1)


def _result(ran: Mapping[str, dict[str, Ran]], judged: bool) -> Result:
    rows, problems = [], []
    for case in CASES:
        ours = ran[case.name][case.ours]
        if not ours.fired and NONE in case.needs and not case.close:
            problems.append(f"{case.name}: no filter")
        for name, one in ran[case.name].items():
            if one.problem:
                problems.append(f"{case.name}: {name} {one.problem}")
            if name.startswith("joinery") is False and one.fired:
                problems.append(f"{case.name}: {name} ran with {OPERATOR}")
            if name == STORED and (one.built or not one.fired):
                problems.append(f"{case.name}: {name} {'built one' if one.built else 'had none'}")
            need, figures = (
                case.needs.get(name, Need()),
                {
                    "time": one.median / ours.median,
                    "shuffle": one.shuffled / max(ours.shuffled, 1e-6),
                    "read": read_of_large(one, ran[case.name]) / max(read_of_large(ours, ran[case.name]), 1e-6),
                },
            )
            required = {kind: least for kind, least in asdict(need).items() if least}
            missed = {kind: figures[kind] for kind, least in required.items() if figures[kind] < least}
            if judged:
                problems += [
                    f"{case.name}: {kind} {ratio:.2f} of {name}, at least {required[kind]:g}"
                    for kind, ratio in missed.items()
                ]
            spark = name not in (DUCKDB, POLARS)
            rows.append(
                [
                    case.name if name == case.ours else "",
                    name,
                    f"{one.median:.2f}",
                    f"{figures['time']:.2f}",
                    f"{one.first:.2f}" if one.first else "",
                    f"{one.shuffled:.1f}" if spark else "",
                    f"{one.read:.1f}" if spark else "",
                    ", ".join(f"{kind} {least:g} x" for kind, least in required.items()) if judged else "",
                    ", ".join(f"{figures[kind]:.3g}" for kind in required) if judged else "",
                    ("**not met**" if missed else "met") if required and judged else "",
                ]
            )
    return Result(
        case="runtime_filter",
        title="Runtime filters that the query builds",
        columns=COLUMNS,
        rows=rows,
        verdict="; ".join(problems) or ("all ratios reached, answers equal" if judged else "answers equal"),
        met=not problems,
        notes=NOTES,
        data={case.name: {name: _kept(case, name, one) for name, one in ran[case.name].items()} for case in CASES},
    )


def _kept(case: Case, name: str, one: Ran) -> dict[str, Any]:
    """The figures of a way, as the overview of all cases reads them."""
    time = case.needs.get(name, Need()).time
    return asdict(one) | {
        "first": [one.first] if one.first else [],
        "required": {"seconds": [time]} if time else {},
        "against": case.ours,
    }
