"""Spark as an engine. One session serves Joinery and stock queries, which get every feature of Spark 4.3."""

from __future__ import annotations

import itertools
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common.engines import Engine, Run, SparkDigest, stoppable
from benchmarks.common.fresh import first_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "8g",
    "spark.log.level": "OFF",  # a stopped query logs each of its tasks
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.join.asofJoin.enabled": "true",
    "spark.sql.join.sortMergeAsOfJoin.enabled": "true",
    # Plans are compared by their text. It must not be cut, because the digits of its numbers decide where it is cut.
    "spark.sql.maxMetadataStringLength": "1000000",
    "spark.sql.maxPlanStringLength": "1000000",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.window.segmentTree.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
OPERATORS = (
    *("BroadcastLastJoin", "ShuffledHashLastJoin", "SortMergeLastJoin", "SlidingWindow"),
    *("BroadcastRangeJoin", "ShuffledRangeJoin"),
)
FILTER = "joinery_might_contain"
DRAIN_SECONDS = 120
_groups = itertools.count()


def session(settings: Mapping[str, str] | None = None, joinery: bool = True) -> SparkSession:
    """A session on two cores. It starts this process's JVM if there is none yet.

    Args:
        settings: Further settings, on top of `SETTINGS`.
        joinery: Whether the session has the extension.
    """
    from pyspark.sql import SparkSession
    from spark_joinery import configure_spark

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    configuration: dict[str, Any] = SETTINGS | dict(settings or {})
    builder = SparkSession.builder.master("local[2]").appName("joinery-bench").config(map=configuration)
    return (configure_spark(builder) if joinery else builder).getOrCreate()


def register(spark: SparkSession, tables: Mapping[str, Path]) -> None:
    """Make the tables temporary views."""
    for name, folder in tables.items():
        spark.read.parquet(str(folder)).createOrReplaceTempView(name)


def stock(spark: SparkSession) -> dict[str, str]:
    """The settings that switch Joinery off."""
    names = (row.key for row in spark.sql("SET -v").collect())
    return {name: "false" for name in names if re.fullmatch(r"spark\.joinery\..*\.enabled", name)}


class Spark(Engine):
    """One query. The answer goes to the `noop` sink, which reads every row and column and keeps none.

    Args:
        session: The session to run it in, with its tables registered.
        sql: The query.
        settings: Settings of this query alone.
        digest: The digest of its answer, which only `check` needs.
        watch: Name of the operator whose metrics are kept.
    """

    def __init__(
        self,
        session: SparkSession,
        sql: str,
        settings: Mapping[str, str] | None = None,
        digest: SparkDigest | None = None,
        watch: str = "",
    ) -> None:
        self.session = session
        self.sql = sql
        self.digest = digest
        self.watch = watch
        self.settings = dict(settings or {})
        self.group = ""  # the job group of the last run

    def answer(self, limit: float | None = None) -> Run:
        """See `Engine`."""

        def work() -> None:
            self.session.sql(self.sql).write.format("noop").mode("overwrite").save()

        before = self._megabytes()
        with self._settings():
            seconds, stopped, _ = stoppable(work, self._stop(), limit)
        self._drain(stopped)
        if stopped:
            return Run(seconds, stopped)
        metrics = node_metrics(self.session, self.watch) if self.watch else {}
        shuffled, read = (after - before for before, after in zip(before, self._megabytes(), strict=True))
        return Run(seconds, plan=self._plan_that_ran(), metrics=metrics, shuffled=shuffled, read=read)

    def check(self, limit: float | None = None) -> Run:
        """See `Engine`."""
        digest = self.digest
        if digest is None:
            raise ValueError(f"no digest to check the answer of {self.sql} with")
        with self._settings():
            seconds, stopped, found = stoppable(lambda: digest.spark(self.session, self.sql), self._stop(), limit)
        self._drain(stopped)
        return Run(seconds, stopped, found, "" if stopped else self._plan_that_ran())

    def plan(self) -> str:
        """The physical plan before anything runs. Its numbers count from 0, so that plans can be compared."""
        with self._settings():
            plan = self.session.sql(self.sql)._jdf.queryExecution().executedPlan().toString()
        return numbered_from_zero(plan)

    def in_fresh_jvm(self, tables: Mapping[str, Path], joinery: bool, limit: float | None = None) -> Run:
        """See `Engine`."""
        return first_run(self.sql, self.settings, tables, joinery, limit)

    def _megabytes(self) -> tuple[float, float]:
        """The megabytes that all tasks so far have written into shuffles, and read from files."""
        self.session._jsc.sc().listenerBus().waitUntilEmpty()
        executors = self.session._jsc.sc().statusStore().executorList(False)
        summaries = [executors.apply(i) for i in range(executors.size())]
        return sum(s.totalShuffleWrite() for s in summaries) / 1e6, sum(s.totalInputBytes() for s in summaries) / 1e6

    def _plan_that_ran(self) -> str:
        return str(_last_execution(self.session).physicalPlanDescription())

    @contextmanager
    def _settings(self) -> Iterator[None]:
        conf = self.session.conf
        before = {name: conf.get(name, None) for name in self.settings}
        for name, value in self.settings.items():
            conf.set(name, value)
        try:
            yield
        finally:
            for name, old in before.items():
                conf.unset(name) if old is None else conf.set(name, old)

    def _stop(self) -> Callable[[], object]:
        self.group = f"bench-{next(_groups)}"
        self.session.sparkContext.setJobGroup(self.group, self.sql[:80], interruptOnCancel=True)
        scala = self.session._jsc.sc()
        return lambda: scala.cancelJobGroupAndFutureJobs(self.group)

    def _drain(self, stopped: bool) -> None:
        """Wait until the tasks of a stopped query have left their cores, which the next query needs."""
        if not stopped:
            return
        deadline = time.monotonic() + DRAIN_SECONDS
        tracker = self.session._jsc.sc().statusTracker()
        while any(executor.numRunningTasks() for executor in tracker.getExecutorInfos()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"tasks still run {DRAIN_SECONDS} s after their query was stopped: {self.sql}")
            time.sleep(0.05)


def node_metrics(spark: SparkSession, node: str) -> dict[str, str]:
    """Metrics of an operator in the query that ran last.

    Args:
        spark: The session it ran in.
        node: Name of the operator, as in EXPLAIN.

    Returns:
        The text in the UI, by metric: a count as `1,234`, a size or time as its total with a unit. It is empty without
        such an operator, and from the last one if there are several.
    """
    store = spark._jsparkSession.sharedState().statusStore()
    execution = _last_execution(spark).executionId()
    shown = store.executionMetrics(execution)
    nodes = store.planGraph(execution).allNodes()
    found = {}
    for operator in (nodes.apply(i) for i in range(nodes.size())):
        metrics = operator.metrics()
        for metric in (metrics.apply(i) for i in range(metrics.size()) if operator.name() == node):
            text = shown.get(metric.accumulatorId())
            # the UI shows the distribution of a size over tasks on a line above, and in parentheses behind
            found[metric.name()] = text.get().split("\n")[-1].split(" (")[0] if text.isDefined() else "0"
    return found


def _last_execution(spark: SparkSession) -> Any:
    """The last query, as the SQL tab of the UI shows it."""
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    return spark._jsparkSession.sharedState().statusStore().executionsList().last()


def numbered_from_zero(plan: str) -> str:
    """A plan with its expressions and operators numbered in the order of the text.

    Args:
        plan: Its text.

    Returns:
        Text that is the same for two equal plans of a query, made at different times.

    Example:
        >>> numbered_from_zero("Filter (a#12 > b#7L) +- Scan [a#12, b#7L]")
        'Filter (a#0 > b#1) +- Scan [a#0, b#1]'
    """
    numbers: dict[str, int] = {}
    return re.sub(r"#\d+L?|plan_id=\d+|id=#\d+", lambda number: f"#{numbers.setdefault(number[0], len(numbers))}", plan)


def operators(plan: str) -> list[str]:
    """Joinery's operators in a plan, and its filters.

    Args:
        plan: Its text.

    Returns:
        Their names as EXPLAIN shows them.

    Example:
        >>> operators("+- SortMergeLastJoin (7)")
        ['SortMergeLastJoin']
    """
    final = plan.split("== Initial Plan ==")[0]
    found = [name for name in OPERATORS if re.search(rf"\b{name}\b", final)]
    return [*found, FILTER] if FILTER in plan else found  # an expression, which the text has below the trees
