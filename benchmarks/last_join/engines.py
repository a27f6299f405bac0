"""What every engine can do: answer a query, timed and stoppable, and sum the answer up for comparison."""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.last_join.queries import Question, duckdb

# Aggregates over the whole answer; equal answers give equal values, exactly.
CHECKSUM = (
    "count(*), count(r_value), sum(value), sum(r_value * (id % 1009)), sum(r_qty), sum(length(r_note)), "
    "sum({micros}(r_ts) % 1000003)"
)
Checksum = tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """One run.

    Args:
        seconds: It took, or had taken when it was stopped.
        stopped: Whether it was.
        checksum: Of the answer, where that was asked for.
        plan: Text of the plan that was executed, where there is one.
    """

    seconds: float
    stopped: bool = False
    checksum: Checksum | None = None
    plan: str = ""


class Engine(ABC):
    """Something that answers one query over `l` and `r`."""

    @abstractmethod
    def answer(self, limit: float | None = None) -> Run:
        """Compute the whole answer and keep nothing of it.

        Args:
            limit: Seconds after which it is stopped.
        """

    @abstractmethod
    def check(self, limit: float | None = None) -> Run:
        """Compute the checksum of the answer.

        Args:
            limit: Seconds after which it is stopped.
        """


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
    fired = threading.Event()

    def fire() -> None:
        fired.set()
        stop()

    timer = threading.Timer(limit, fire) if limit else None
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
        if timer:
            timer.cancel()


class DuckDB(Engine):
    """DuckDB on two threads; the answer becomes a temporary table, the order of its rows is left open."""

    def __init__(self, question: Question, tables: dict[str, Path]) -> None:
        import duckdb as library

        self.sql = duckdb(question)
        self.connection = library.connect()
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
        sql = f"SELECT {CHECKSUM.format(micros='epoch_us')} FROM ({self.sql})"
        seconds, stopped, row = stoppable(
            lambda: self.connection.execute(sql).fetchone(), self.connection.interrupt, limit
        )
        return Run(seconds, stopped, None if stopped else numbers(row))


class Polars(Engine):
    """Polars on two threads, lazily from the files. It cannot be stopped, nor need be."""

    def __init__(self, question: Question, tables: dict[str, Path]) -> None:
        os.environ["POLARS_MAX_THREADS"] = "2"  # read when the library is first imported
        import polars as pl

        self.pl = pl
        left, right = (pl.scan_parquet(f"{tables[name]}/*.parquet") for name in ("l", "r"))
        right = right.rename({name: f"r_{name}" for name in ("ts", "value", "qty", "note")})
        if question.as_of:
            right = right if question.keyed else right.drop("k")
            self.query = left.sort("ts").join_asof(
                right.sort("r_ts"), left_on="ts", right_on="r_ts", by="k" if question.keyed else None, coalesce=False,
                check_sortedness=False,  # just sorted
            )  # fmt: skip
        else:
            last = right.group_by("k").agg(pl.exclude("k").get(pl.col("r_ts").arg_max()))
            self.query = left.join(last, on="k", how="left")

    def answer(self, limit: float | None = None) -> Run:
        """See `Engine`."""
        seconds, _, _ = stoppable(self.query.collect, lambda: None, None)
        return Run(seconds)

    def check(self, limit: float | None = None) -> Run:
        """See `Engine`."""
        column = self.pl.col
        seconds, _, frame = stoppable(self.query.collect, lambda: None, None)
        row = frame.select(
            rows=self.pl.len(), matched=column("r_value").count(), left=column("value").sum(),
            value=(column("r_value") * (column("id") % 1009)).sum(), qty=column("r_qty").cast(self.pl.Int64).sum(),
            note=column("r_note").str.len_chars().cast(self.pl.Int64).sum(),
            ts=(column("r_ts").dt.epoch("us") % 1000003).sum(),
        ).row(0)  # fmt: skip
        return Run(seconds, checksum=numbers(row))


def numbers(row: Any) -> Checksum:
    """A checksum as integers that engines agree on: values are multiples of 1/4, sums of nothing are 0."""
    return tuple(int((value or 0) * 4) for value in row)
