"""Engines. Each can answer a query, be timed and stopped, and sum up the answer for a comparison."""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Run:
    """One run of a query.

    Args:
        seconds: The time that it took, or had taken when it was stopped.
        stopped: Whether it was stopped.
        digest: The digest of the answer, if it was computed.
        plan: Text of the plan that was executed, if the engine has one.
        metrics: Metrics of the operator that the engine watches.
        shuffled: MB that Spark's tasks wrote into shuffles.
        read: MB that they read from files.
    """

    seconds: float
    stopped: bool = False
    digest: Any = None
    plan: str = ""
    metrics: Mapping[str, str] = field(default_factory=dict)
    shuffled: float = 0
    read: float = 0


class SparkDigest(ABC):
    """The part of an answer that is compared, for queries that only Spark runs."""

    @abstractmethod
    def spark(self, session: SparkSession, sql: str) -> Any:
        """The digest of the answer to a query in Spark."""

    @abstractmethod
    def differ(self, theirs: Any, ours: Any) -> str:
        """The difference of an engine's digest from Joinery's, in words; empty if they agree."""


class Digest(SparkDigest):
    """The part of an answer that is compared, and how each engine computes it."""

    @abstractmethod
    def duckdb(self, connection: DuckDBPyConnection, sql: str) -> Any:
        """The digest of the answer to a query in DuckDB."""

    @abstractmethod
    def polars(self, answer: polars.DataFrame) -> Any:
        """The digest of an answer by Polars."""


class Engine(ABC):
    """Something that answers one query.

    Attributes:
        remark: A remark on its times, for the table.
    """

    remark = ""

    @abstractmethod
    def answer(self, limit: float | None = None) -> Run:
        """Compute the whole answer and keep nothing of it.

        Args:
            limit: Stop it after this many seconds.
        """

    @abstractmethod
    def check(self, limit: float | None = None) -> Run:
        """Compute the digest of the answer.

        Args:
            limit: Stop it after this many seconds.
        """

    def in_fresh_jvm(self, tables: Mapping[str, Path], joinery: bool, limit: float | None = None) -> Run | None:
        """Answer once in a JVM that has run nothing before.

        Args:
            tables: Folders by the names that the query reads.
            joinery: Whether the session has the extension.
            limit: Stop it after this many seconds.

        Returns:
            The run; None for an engine without a JVM.
        """
        return None


def stoppable(work: Callable[[], Any], stop: Callable[[], object], limit: float | None) -> tuple[float, bool, Any]:
    """Time a piece of work.

    Args:
        work: The work to do.
        stop: Makes the work raise an exception. It is called from another thread.
        limit: Stop the work after this many seconds.

    Returns:
        Seconds, whether the work was stopped, and its result.

    Raises:
        Exception: The work raised it without being stopped.
    """
    fired, ended = threading.Event(), threading.Event()

    def fire() -> None:
        # Stop repeatedly, because a stop while Spark plans does not reach the stages that start later.
        while not ended.wait(1.0 if fired.is_set() else limit):
            fired.set()
            stop()

    timer = threading.Thread(target=fire, daemon=True) if limit else None
    start = time.perf_counter()
    if timer:
        timer.start()
    try:
        result = work()
        return time.perf_counter() - start, False, result
    except Exception:
        if not fired.is_set():
            raise
        return time.perf_counter() - start, True, None
    finally:
        ended.set()
        if timer:
            timer.join()


class DuckDB(Engine):
    """DuckDB on two threads. The answer becomes a temporary table with its rows in any order."""

    def __init__(self, sql: str, tables: Mapping[str, Path], digest: Digest) -> None:
        import duckdb

        self.sql = sql
        self.digest = digest
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 2; SET memory_limit = '8GB'; SET preserve_insertion_order = false")
        self.connection.execute("SET TimeZone = 'UTC'")
        for name, folder in tables.items():
            self.connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{folder}/*.parquet')")

    def answer(self, limit: float | None = None) -> Run:
        """See `Engine`."""
        self.connection.execute("DROP TABLE IF EXISTS answer")
        seconds, stopped, _ = stoppable(
            lambda: self.connection.execute(f"CREATE TEMP TABLE answer AS {self.sql}"), self.connection.interrupt, limit
        )
        return Run(seconds, stopped)

    def check(self, limit: float | None = None) -> Run:
        """See `Engine`."""
        return Run(*stoppable(lambda: self.digest.duckdb(self.connection, self.sql), self.connection.interrupt, limit))


class Polars(Engine):
    """Polars on two threads, which reads the files lazily. It cannot be stopped, and need not be."""

    def __init__(self, query: polars.LazyFrame, digest: Digest) -> None:
        self.query = query
        self.digest = digest

    def answer(self, limit: float | None = None) -> Run:
        """See `Engine`."""
        seconds, _, _ = stoppable(self.query.collect, lambda: None, None)
        return Run(seconds)

    def check(self, limit: float | None = None) -> Run:
        """See `Engine`."""
        seconds, _, answer = stoppable(self.query.collect, lambda: None, None)
        return Run(seconds, digest=self.digest.polars(answer))


class Fraction(Engine):
    """An engine that runs over a fraction of the rows, because all rows would take hours.

    Args:
        engine: The engine, with the query over the fraction.
        share: The fraction, above 0 and at most 1. Seconds are divided by it.
        whole: The engine with the query over all rows, which runs in fresh JVMs. A fraction would say nothing there,
            because most of a first run's time does not depend on the number of rows.
    """

    def __init__(self, engine: Engine, share: float, whole: Engine | None = None) -> None:
        self.engine = engine
        self.share = share
        self.whole = whole
        self.remark = f"extrapolated from {share:.2%} of the rows"

    def answer(self, limit: float | None = None) -> Run:
        """See `Engine`; it is never stopped, because its share is chosen to be short."""
        return self._scaled(self.engine.answer())

    def check(self, limit: float | None = None) -> Run:
        """See `Engine`; of the fraction alone."""
        return self._scaled(self.engine.check())

    def in_fresh_jvm(self, tables: Mapping[str, Path], joinery: bool, limit: float | None = None) -> Run | None:
        """See `Engine`; of all rows."""
        return self.whole.in_fresh_jvm(tables, joinery, limit) if self.whole else None

    def _scaled(self, run: Run) -> Run:
        return replace(run, seconds=run.seconds / self.share)


def polars_library() -> ModuleType:
    """Polars, on two threads. It reads their number when it is first imported."""
    os.environ["POLARS_MAX_THREADS"] = "2"
    import polars

    return polars
