"""The content of a report, before it is a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from spark_joinery.store import Coverage, Validity

# From a kind of artifact to its name for people.
KINDS = {"distribution": "Skew distribution", "bloom_filter": "Bloom filter", "range_index": "Range index"}

# How many keys of a distribution are shown.
HEAVIEST = 20

# How many boundaries of a key are shown.
MOST_BOUNDARIES = 64


@dataclass(frozen=True)
class HeavyKey:
    """One of the heaviest keys of a distribution.

    Attributes:
        values: One per key column, as Spark casts them to text; None is NULL.
        rows: Rows of the key.
        is_hot: Whether windows over it are split.
        boundaries: Inner boundaries between the parts, as text, ascending; none unless hot.
        largest_part: About the most rows of one part; all rows of the key unless it is hot.
    """

    values: tuple[str | None, ...]
    rows: int
    is_hot: bool
    boundaries: tuple[str, ...]
    largest_part: int


@dataclass(frozen=True)
class Distribution:
    """The figures of a distribution.

    Attributes:
        key_columns: Names of the key columns.
        order_by: Name of the order column.
        order_type: Its type, as Spark writes it ("timestamp").
        parts: Number of parts that a hot key should be split into.
        rows: Rows of the relation.
        heaviest: The heaviest keys, at most `HEAVIEST`, heaviest first.
        largest_part: About the most rows of one part of any key.
    """

    key_columns: tuple[str, ...]
    order_by: str
    order_type: str
    parts: int
    rows: int
    heaviest: tuple[HeavyKey, ...]
    largest_part: int

    @property
    def step(self) -> int:
        """The step between shown boundaries, as a thousand for each key would be too many to read."""
        return math.ceil(self.parts / MOST_BOUNDARIES)

    @property
    def share_before(self) -> float:
        """Share of all rows in the busiest task of a window that is not split: that of the heaviest key."""
        return self.share(self.heaviest[0].rows) if self.heaviest else 0.0

    @property
    def share_after(self) -> float:
        """Share of all rows in the busiest task once hot keys are split."""
        return self.share(self.largest_part)

    def share(self, rows: int) -> float:
        """A number of rows as a share of all rows, 0 to 1."""
        return rows / self.rows if self.rows else 0.0


@dataclass(frozen=True)
class ReportedArtifact:
    """One artifact, in the version that is in use.

    Attributes:
        kind: Kind of artifact.
        relation: Identity of the relation.
        spec_hash: Hash of the specification.
        description: The content of `version.json`; empty without a version.
        problem: The reason why it is damaged or cannot be read; None if all is well.
        validity: Whether queries can use it while the source is as it is now; None without a version.
        coverage: The files of the source, as it is now, that it covers; None if not known.
        distribution: The figures of a distribution, if they can be read.
    """

    kind: str
    relation: str
    spec_hash: str
    description: Mapping[str, Any] = field(default_factory=dict)
    problem: str | None = None
    validity: Validity | None = None
    coverage: Coverage | None = None
    distribution: Distribution | None = None

    @property
    def spec(self) -> Mapping[str, Any]:
        """The specification; empty without a version."""
        spec = self.description.get("spec")
        return spec if isinstance(spec, dict) else {}

    @property
    def state(self) -> Literal["damaged", "not valid", "valid", "whole"]:
        """The state in a word; "whole" means that nothing is known about the source."""
        if self.problem:
            return "damaged"
        if self.validity is None or self.validity.usable is None:
            return "whole"
        return "valid" if self.validity.usable else "not valid"

    @property
    def built_at(self) -> datetime | None:
        """When the version was published, in UTC."""
        text = str(self.description.get("built_at", ""))
        try:
            return datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            return None

    @property
    def bytes(self) -> int:
        """Size of all files of the version."""
        return sum(int(file["length"]) for file in self.description.get("files", []))


@dataclass(frozen=True)
class Outcome:
    """The result of a run for one artifact.

    Attributes:
        kind: Kind of artifact.
        relation: Identity of the relation.
        state: The result in a word. It is "damaged" if the artifact was damaged and has been refreshed, and "never
            used" if no query can use it.
        reason: The reason for the state.
    """

    kind: str
    relation: str
    state: Literal["refreshed", "unchanged", "skipped", "failed", "damaged", "never used"]
    reason: str | None = None


@dataclass(frozen=True)
class Report:
    """The content of the page.

    Attributes:
        store: Root of the store.
        artifacts: Sorted by relation, kind and specification.
        generated_at: When the store was read, in UTC.
        time_zone: Time zone in which timestamps of the source are shown.
        redacted: Whether key and quantile values are hidden.
        run: The results of the run that the report is about, one per artifact; empty without a run.
    """

    store: str
    artifacts: tuple[ReportedArtifact, ...]
    generated_at: datetime
    time_zone: str
    redacted: bool = False
    run: tuple[Outcome, ...] = ()

    @property
    def relations(self) -> list[tuple[str, list[ReportedArtifact]]]:
        """The artifacts of each relation."""
        return [(relation, list(found)) for relation, found in groupby(self.artifacts, lambda one: one.relation)]
