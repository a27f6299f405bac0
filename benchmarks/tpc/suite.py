"""One of TPC's benchmarks: its queries, its tables, and the number of rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.tpc.rows import SortedRows


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Queries and their tables.

    Args:
        name: The case's name on the command line.
        title: TPC's name of the benchmark.
        about: The source of its queries and tables, in a sentence or two for the page.
        tables: Makes the tables of a scale factor, and returns their folders by name.
        queries: Returns the queries by name.
        digest: The digest of their answers.
        rounds: Rounds in which each query is timed. The number is even, because each side is first in every other
            round.
        closer: Rounds of a query whose two medians are apart after `rounds`.
        planning_rounds: Rounds in which all queries are planned, after a quarter as many to warm up.
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
        """Rounds of planning that do not count."""
        return self.planning_rounds // 4 + 1
