"""What every engine can do: answer a query, timed and stoppable, and sum the answer up for comparison."""

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
    """One run.

    Args:
        seconds: It took, or had taken when it was stopped.
        stopped: Whether it was.
        digest: Of the answer, where that was asked for.
        plan: Text of the plan that was executed, where there is one.
        metrics: Of the operator that the engine watches.
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
    """What of an answer is compared, where only Spark is asked."""

    @abstractmethod
    def spark(self, session: SparkSession, sql: str) -> Any:
        """Of the answer to a query in Spark."""

    @abstractmethod
    def differ(self, theirs: Any, ours: Any) -> str:
        """How a digest of an engine's answer differs from that of Joinery's, in words; empty if they agree."""


class Digest(SparkDigest):
    """What of an answer is compared, and how each engine gets it."""

    @abstractmethod
    def duckdb(self, connection: DuckDBPyConnection, sql: str) -> Any:
        """Of the answer to a query in DuckDB."""

    @abstractmethod
    def polars(self, answer: polars.DataFrame) -> Any:
        """Of an answer by Polars."""


class Engine(ABC):
    """Something that answers one query.

    Attributes:
        remark: What to mind in its times; for the table.
    """

    remark = ""

    @abstractmethod
    def answer(self, limit: float | None = None) -> Run:
        """Compute the whole answer and keep nothing of it.

        Args:
            limit: Seconds after which it is stopped.
        """

    @abstractmethod
    def check(self, limit: float | None = None) -> Run:
        """Compute the digest of the answer.

        Args:
            limit: Seconds after which it is stopped.
        """

    def in_fresh_jvm(self, tables: Mapping[str, Path], joinery: bool, limit: float | None = None) -> Run | None:
        """Answer once in a JVM that has run nothing before.

        Args:
            tables: Folders by the names that the query reads.
            joinery: Whether the session has the extension.
            limit: Seconds after which it is stopped.

        Returns:
            The run; None where there is no JVM.
        """
        return None


def stoppable(work: Callable[[], Any], stop: Callable[[], object], limit: float | None) -> tuple[float, bool, Any]:
    """Time a piece of work.

    Args:
        work: To do.
        stop: Makes it raise, called from another thread.
        limit: Seconds after which that is done.

    Returns:
        Seconds, whether it was stopped, and what it returned.

    Raises:
        Exception: What the work raised of its own accord.
    """
    fired, ended = threading.Event(), threading.Event()

    def fire() -> None:
        # Again and again: a stop that comes while Spark plans does not reach the stages that it starts after that.
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
    """DuckDB on two threads; the answer becomes a temporary table, the order of its rows is left open."""

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
    """Polars on two threads, lazily from the files. It cannot be stopped, nor need be."""

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
    """An engine that answers for a fraction of the rows, because all of them would take it hours.

    Args:
        engine: It, with the query over the fraction.
        share: Of the rows, above 0 and at most 1. Seconds are divided by it.
        whole: The engine with the query over all rows, which runs in fresh JVMs: there a share of the rows says
            nothing, as most of a first run's time does not depend on their number.
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
    """Polars, for two threads: it reads their number when it is first imported."""
    os.environ["POLARS_MAX_THREADS"] = "2"
    import polars

    return polars
