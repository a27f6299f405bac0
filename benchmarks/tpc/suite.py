"""One of TPC's benchmarks: what is asked, of which tables, and how often."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.tpc.rows import SortedRows


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Queries and their tables.

    Args:
        name: Of the case, as on the command line.
        title: Of the benchmark, as TPC calls it.
        about: Where its queries and tables come from, a sentence or two for the page.
        tables: Makes the tables of a scale factor, and returns their folders by name.
        queries: Returns the queries by name.
        digest: What of their answers is compared.
        rounds: In which each query is timed; even, as each side is first in every other one.
        closer: Rounds of a query whose two medians are apart after so few.
        planning_rounds: In which all queries are planned, after a quarter as many to warm up.
    """

    name: str
    title: str
    about: str
    tables: Callable[[float], dict[str, Path]]
    queries: Callable[[], Mapping[str, str]]
    rounds: int
    closer: int
    planning_rounds: int
    digest: SortedRows = field(default_factory=SortedRows)

    @property
    def planning_warm_up(self) -> int:
        """Rounds of planning before those that count."""
        return self.planning_rounds // 4 + 1
