"""What each capability of the jar tells the fuzzer."""

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

# {"capability": str, "tables": {name: Table}, "session": Settings, "query": {...}, "variant": {...}}, perhaps with
# "later": Settings that are those of the session once the query is analyzed: all that a query is made of, as JSON.
# Reduction takes away from it what it can, so whatever is missing has a plain default.
Case = dict[str, Any]


class Capability(ABC):
    """Draws queries of one kind, and knows the right answers.

    Attributes:
        name: The name that `CASE` takes.
        store: Where distributions of its tables are.
        scarce: Whether it is for rounds in which memory is scarce, or for the others.
        queries: How many are drawn over the same tables.
        runs: How often each runs, by other operators and settings.
        asks_the_same: Whether stock Spark is asked the very query that Joinery is, but for hints.
    """

    name: str
    store: Path
    scarce = False
    queries = 12
    runs = 6
    asks_the_same = False

    @abstractmethod
    def draw_tables(self, rng: random.Random) -> dict[str, Table]:
        """Tables for a number of queries."""

    @abstractmethod
    def draw_query(self, rng: random.Random, tables: dict[str, Table]) -> dict[str, Any]:
        """What a query asks for."""

    @abstractmethod
    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        """A way to run it: "settings", and whatever else does not change the answer, such as hints."""

    @abstractmethod
    def sql(self, case: Case) -> str:
        """The query that Joinery runs."""

    @abstractmethod
    def oracle_sql(self, case: Case) -> str:
        """The query that stock Spark runs."""

    def hinted_sql(self, case: Case) -> str | None:
        """What stock Spark runs, with the hints for joins that Joinery is given; None if there are none.

        They may say which pairs of rows are looked at, and so which errors are met.
        """
        return None

    @abstractmethod
    def difference(self, right: Answer, found: Answer, case: Case) -> str | None:
        """What is wrong with an answer, both having rows; None if nothing is."""

    def prepare(self, spark: SparkSession, folder: Path, case: Case) -> None:
        """Make the tables of a case, once for all cases that share them."""
        self.store = folder / "distributions"
        for name, table in case["tables"].items():
            source = register(spark, folder, name, table)
            if "distribution" in table:
                distributions.build(spark, source, self.store, table["distribution"])

    def expects(self, error: Exception, case: Case) -> bool:
        """Whether an error of `prepare` is what the case asks for, and nothing to look into."""
        return False

    @contextlib.contextmanager
    def around(self, spark: SparkSession, case: Case) -> Iterator[None]:
        """What surrounds both runs of a case."""
        yield

    def only_tested(self, case: Case) -> Settings:
        """Settings that Joinery needs for the query to be its business."""
        if not any("distribution" in table for table in case["tables"].values()):
            return {}
        return {"spark.joinery.store": str(self.store), "spark.joinery.store.timeout": "60s"}

    def meaning(self, case: Case) -> Settings:
        """Settings of the query that both need."""
        return {}

    def probe_sql(self, case: Case) -> str | None:
        """A query that stock Spark must be able to run for Joinery to have to; None where Joinery must in any case."""
        return None
