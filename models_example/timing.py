"""How long the queries of the models take: with the jar, portable, and as the SQL a user would write first."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIMIT = 60.0  # seconds a query may take without the jar
# model -> pattern of the jar's operators for it in EXPLAIN; if none matches, the jar did nothing
NODE = r"^[ :+\-]*(\*?\(\d+\) )?({})\b"
OPERATORS = {
    "flight_weather": NODE.format("BroadcastLastJoin|ShuffledHashLastJoin|SortMergeLastJoin"),
    "overtaken_flights": NODE.format("BroadcastRangeJoin|ShuffledRangeJoin"),
    "carrier_delays": NODE.format("SlidingWindow"),
    "flights_by_manufacturer": r"\bjoinery_might_contain\(",
}
# The setting that a query is timed with: only plain SQL has Spark's default window frame. No setting switches Joinery
# off: portable and plain SQL run in a session that does not have the extension.
SEGMENT_TREE = "spark.sql.window.segmentTree.enabled"
CONFS = {
    "extension": {SEGMENT_TREE: "true"},
    "portable": {SEGMENT_TREE: "true"},
    "plain": {SEGMENT_TREE: "false"},
}


@dataclass(frozen=True)
class Timing:
    """Seconds of a query and the megabytes that it shuffled. A stopped query has None and the date it was stopped."""

    seconds: float | None
    shuffled: float | None = None
    stopped_on: str = ""


# per model: with the jar, portable, plain
Timings: TypeAlias = "dict[str, tuple[Timing | None, Timing, Timing]]"


def has_extension(spark: SparkSession) -> bool:
    """Say whether the extension takes part in the queries of a session; the jar alone in the JVM is not enough."""
    return not spark.sql("SHOW FUNCTIONS LIKE 'joinery_version'").isEmpty()


def runs_in_jar(spark: SparkSession, model: str, sql: str) -> bool:
    """Say whether an operator of the jar would run this model's SQL; else stock Spark runs all of it."""
    for key, value in CONFS["extension"].items():
        spark.conf.set(key, value)
    plan = spark.sql(f"EXPLAIN {sql}").collect()[0][0]
    return re.search(OPERATORS[model], plan, re.MULTILINE) is not None


def timed(spark: SparkSession, mode: str, sql: str, output: Path, limit: float | None = None) -> Timing | None:
    """Run a query, write its rows as Parquet, and stop it after a while.

    Args:
        spark: the session.
        mode: extension, portable or plain; decides about the settings.
        sql: query.
        output: directory for its rows.
        limit: seconds after which it is stopped, None for never.

    Returns:
        Its time and shuffled bytes, None if it was stopped.
    """
    context = spark.sparkContext
    done, stopped = threading.Event(), threading.Event()

    def watch() -> None:
        if not done.wait(limit):
            stopped.set()
            # repeated, because there is nothing to cancel while the query is planned, or between two of its jobs
            while not done.wait(0.5):
                context.cancelJobGroup("demo")

    for key, value in CONFS[mode].items():
        spark.conf.set(key, value)
    shuffled_before = shuffled(spark)
    context.setJobGroup("demo", f"timing of a query, {mode}", interruptOnCancel=True)
    threading.Thread(target=watch, daemon=True).start()
    started = time.monotonic()
    try:
        spark.sql(sql).write.mode("overwrite").parquet(str(output))
    except Exception:
        if stopped.is_set():
            wait_for_tasks(spark)
            return None
        raise
    finally:
        done.set()
    seconds = time.monotonic() - started
    return Timing(seconds, shuffled(spark) - shuffled_before)


def shuffled(spark: SparkSession) -> float:
    """Return the megabytes that all tasks of a session have written into shuffles so far."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()  # so that the last tasks are counted
    executors = context.statusStore().executorList(False)
    return sum(executors.apply(i).totalShuffleWrite() for i in range(executors.size())) / 1e6


class StillRunningError(Exception):
    """Tasks of a stopped query did not end, and would slow down the next query."""


def wait_for_tasks(spark: SparkSession, at_most: float = 900.0) -> None:
    """Wait until the tasks of a cancelled query have ended, too, so that they do not slow down the next one.

    Args:
        spark: the session.
        at_most: seconds; far more than a task that spills on a slow machine needs.

    Raises:
        StillRunningError: the tasks did not end.
    """
    tracker = spark.sparkContext._jsc.sc().statusTracker()
    deadline = time.monotonic() + at_most
    while running := sum(info.numRunningTasks() for info in tracker.getExecutorInfos()):
        if time.monotonic() > deadline:
            raise StillRunningError(
                f"{running} tasks of a query that was stopped still run after {at_most:.0f} s, and would spoil all "
                "other times: run `make demo` again when the machine is less busy, or with fewer ROWS"
            )
        time.sleep(0.1)


class LimitedQueries:
    """Times queries without the jar, and remembers stopped queries, so that only the first demo waits for them.

    Args:
        mode: portable or plain.
        sql: query per model.
        file: JSON file to remember in.
        context: everything else that a query's time depends on (data, Spark version).
    """

    def __init__(self, mode: str, sql: Mapping[str, str], file: Path, context: str) -> None:
        self._mode = mode
        self._sql = sql
        self._file = file
        self._context = f"{context}|without the extension|{LIMIT}"
        self._stopped: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}

    def time(self, spark: SparkSession, model: str, output: Path) -> Timing:
        """Time the second run of a model's query, as dbt has run the models once before; a stopped query runs once."""
        sql = self._sql[model]
        key = hashlib.sha256(f"{self._context}|{sql}".encode()).hexdigest()
        if key in self._stopped:
            return Timing(None, stopped_on=self._stopped[key])
        timing = timed(spark, self._mode, sql, output, LIMIT)
        if timing is not None:
            timing = timed(spark, self._mode, sql, output, LIMIT)
        if timing is None:
            self._stopped[key] = date.today().isoformat()
            self._file.write_text(json.dumps(self._stopped, indent=1))
            return Timing(None, stopped_on=self._stopped[key])
        return timing


def time_with_jar(
    spark: SparkSession, sql: Mapping[str, str], output: Path, say: Callable[[str], None]
) -> dict[str, Timing | None]:
    """Time all models with the extension, in the JVM in which dbt has run them before.

    Args:
        spark: session with the extension.
        sql: SQL per model as the macros render it for the jar.
        output: directory for the rows, written as Parquet.
        say: takes a line for each query that is done.

    Returns:
        The time per model, None where none of the jar's operators runs it.
    """
    times: dict[str, Timing | None] = {}
    for model in OPERATORS:
        times[model] = None
        if runs_in_jar(spark, model, sql[model]):
            times[model] = timed(spark, "extension", sql[model], output)
            say(progress(model, "jar", times[model]))
    return times


def progress(model: str, mode: str, timing: Timing | None) -> str:
    """Return one line about a query that is done."""
    if timing is None or timing.seconds is None:
        when = f" on {timing.stopped_on}" if timing and timing.stopped_on else ""
        return f"  {model}, {mode}: stopped at {LIMIT:.0f} s{when}"
    return f"  {model}, {mode}: {timing.seconds:.1f} s"


def time_without_jar(
    spark: SparkSession, with_jar: Mapping[str, Timing | None], portable: LimitedQueries, plain: LimitedQueries,
    output: Path, say: Callable[[str], None],
) -> Timings:  # fmt: skip
    """Time all models without the extension: same JVM, same tables, rows written as Parquet as well.

    Args:
        spark: session without the extension.
        with_jar: the times with the extension.
        portable: times the SQL as the macros render it without the jar.
        plain: times the plain SQL.
        output: directory for the rows. They stay in `<output>/portable/<model>` and `<output>/plain/<model>`.
        say: takes a line for each query that is done.

    Returns:
        Per model the three times.

    Raises:
        ValueError: The session has the extension, so the times would not be stock Spark's.
    """
    if has_extension(spark):
        raise ValueError("Portable and plain SQL are timed without Joinery, but this session has the extension.")
    timings: Timings = {}
    for model, ours in with_jar.items():
        without = portable.time(spark, model, output / "portable" / model)
        say(progress(model, "portable", without))
        simple = plain.time(spark, model, output / "plain" / model)
        say(progress(model, "plain SQL", simple))
        timings[model] = ours, without, simple
    return timings
