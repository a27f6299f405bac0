"""The interface between the fuzzer and each capability of the jar."""

from __future__ import annotations

import contextlib
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from fuzz import distributions
from fuzz.data import Table, register
from fuzz.running import Answer
from fuzz.settings import Settings

# A case is all that a query is made of, as JSON:
# {"capability": str, "tables": {name: Table}, "session": Settings, "query": {...}, "variant": {...}}. It may have
# "later": Settings that the session gets once the query is analyzed.
# Reduction removes as much of a case as it can, so each missing part has a plain default.
Case = dict[str, Any]


class Capability(ABC):
    """Draws queries of one kind, and knows the right answers.

    Attributes:
        name: The name for `CASE`.
        store: The folder with the distributions of its tables.
        scarce: True if it is for rounds in which memory is scarce, False if it is for the others.
        queries: The number of queries that are drawn over the same tables.
        runs: How often each query runs, each time with other operators and settings.
        asks_the_same: Whether stock Spark runs the same query as Joinery, except for hints.
    """

    name: str
    store: Path
    scarce = False
    queries = 12
    runs = 6
    asks_the_same = False

    @abstractmethod
    def draw_tables(self, rng: random.Random) -> dict[str, Table]:
        """Draw tables for a number of queries."""

    @abstractmethod
    def draw_query(self, rng: random.Random, tables: dict[str, Table]) -> dict[str, Any]:
        """Draw the parts of a query."""

    @abstractmethod
    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        """Draw a way to run a query: "settings", and other parts that do not change the answer, such as hints."""

    @abstractmethod
    def sql(self, case: Case) -> str:
        """The query that Joinery runs."""

    @abstractmethod
    def oracle_sql(self, case: Case) -> str:
        """The query that stock Spark runs."""

    def hinted_sql(self, case: Case) -> str | None:
        """The query that stock Spark runs with Joinery's hints for joins; None if there are none.

        Hints may decide which pairs of rows are looked at, and so which errors are raised.
        """
        return None

    @abstractmethod
    def difference(self, right: Answer, found: Answer, case: Case) -> str | None:
        """How an answer differs from the right one, if both have rows; None if it does not."""

    def prepare(self, spark: SparkSession, folder: Path, case: Case) -> None:
        """Create the tables of a case, once for all cases that share them."""
        self.store = folder / "distributions"
        for name, table in case["tables"].items():
            source = register(spark, folder, name, table)
            if "distribution" in table:
                distributions.build(spark, source, self.store, table["distribution"])

    def expects(self, error: Exception, case: Case) -> bool:
        """Whether the case asks for this error of `prepare`, so that it needs no attention."""
        return False

    @contextlib.contextmanager
    def around(self, spark: SparkSession, case: Case) -> Iterator[None]:
        """A context around both runs of a case."""
        yield

    def only_tested(self, case: Case) -> Settings:
        """Settings that only Joinery's run needs, such as the store."""
        if not any("distribution" in table for table in case["tables"].values()):
            return {}
        return {"spark.joinery.store": str(self.store), "spark.joinery.store.timeout": "60s"}

    def meaning(self, case: Case) -> Settings:
        """Settings that the query needs in Joinery and in stock Spark."""
        return {}

    def probe_sql(self, case: Case) -> str | None:
        """A similar query. If stock Spark cannot run it, Joinery need not run the case; None if Joinery always must."""
        return None
