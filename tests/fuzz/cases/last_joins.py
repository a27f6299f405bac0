"""LAST JOINs of particular kinds: large, at the ends of types, correlated, cut by a stored distribution."""

from __future__ import annotations

import random
from typing import Any

from fuzz.capability import Case
from fuzz.cases.last_join import LastJoin
from fuzz.cases.last_join_terms import BOUNDS, EARLIER, FAMILIES, FLIPPED, NAMES, ORDER_TYPES, SMALL, offset
from fuzz.data import Table
from fuzz.settings import Settings


class PlainlyWritten(LastJoin):
    """LAST JOINs with one space between words, the usual words, and a named left side."""

    spaces = (" ",)
    words = 0.0
    unnamed = 0.0


class ScarceLastJoin(PlainlyWritten):
    """Large right sides, wide rows and little memory, with as many cuts as possible.

    Most have one partition and several rows for each key. Rows that a part carries over from earlier parts then need
    more memory than a task has, and later rows meet keys for which there was no memory.
    """

    name = "last_join_scarce"
    scarce = True
    queries = 6
    sizes = (60, 4000, 20000, 20000, 30000)
    large_keys = ("many", "many", "dense", "sequence")
    partitions = (1, 1, 1, 2, 8)
    kinds = ("int", "bigint", "int", "bigint", "date", "timestamp", "string")
    pools = ("many",)
    padding = 1.0
    padded = 0.9
    paddings = "wide padding"
    lengths = (None,)
    as_of = 0.9
    other_way = 0.0
    tolerance = 0.1
    residual = 0.1
    cut = 0.8
    hints = ("SHUFFLE_HASH", "SHUFFLE_HASH", "MERGE", "")


class ExtremeLastJoin(PlainlyWritten):
    """Times at the ends of their types, and arithmetic on them in ON."""

    name = "last_join_extremes"
    sizes = (60, 120)
    lengths = (None,)
    keys = (["l.k = r.k"], ["l.k = r.k"], ["l.k <=> r.k"], [])
    kinds = ("int", "bigint", "smallint", "double", "decimal(10,2)", *["date"] * 5, "timestamp", "timestamp_ntz")
    pools = ("ends", "ends", "mixed", "changes")
    padding = 0.0
    tolerance = 0.9
    residual = 0.1
    computed = 0.5

    def draw_query(self, rng: random.Random, tables: dict[str, Table]) -> dict[str, Any]:
        query = super().draw_query(rng, tables)
        if query["order"] and not query.get("outer") and rng.random() < self.computed:
            query["conditions"] = self.with_computed_bound(rng, query)
            query["ansi"] = True
        return query

    def with_computed_bound(self, rng: random.Random, query: dict[str, Any]) -> list[str]:
        """An as-of comparison with a time computed from the left time, often after a condition that guards it."""
        (term, direction), *_ = query["order"]
        kind = next(kind for kind in ORDER_TYPES if f"r.{NAMES[kind]}" == term)
        left, family = f"l.{NAMES[kind]}", FAMILIES.get(kind, "number")
        bound = rng.choice(BOUNDS[family]).format(l=left, x=offset(rng, kind), n=rng.choice([1, 3, 30]))
        compared = rng.choice([">=", ">"] if direction.startswith("DESC") else ["<=", "<"])
        as_of = rng.choice([f"{term} {compared} {bound}", f"{bound} {FLIPPED[compared]} {term}"])
        earlier = [rng.choice(EARLIER).format(l=left, **SMALL[family])] if rng.random() < 0.8 else []
        others = query["conditions"][rng.choice([0, 1, 1]) :]  # next to the plain comparison, or in its place
        return [*earlier, as_of, *others] if rng.random() < 0.7 else [*others, as_of, *earlier]

    def meaning(self, case: Case) -> Settings:
        ansi: Settings = {"spark.sql.ansi.enabled": "true"} if case["query"].get("ansi") else {}
        return {**super().meaning(case), **ansi}


class CorrelatedLastJoin(PlainlyWritten):
    """LAST JOIN in subqueries, with columns of the outer query in ON."""

    name = "last_join_outer"
    sizes = (12, 60, 120)
    outer = 1.0


class KeylessLastJoin(PlainlyWritten):
    """LAST JOINs without an equality. Rows are distributed by time, and parts carry over rows from earlier parts."""

    name = "last_join_keyless"
    sizes = (12, 60, 120, 300)
    keys = ([],)
    kinds = ("int", "int", "bigint", "bigint", "smallint", "date", "timestamp", "timestamp_ntz", "double", "string")
    as_of = 1.0
    other_way = 0.0
    residual = 0.4
    cut = 0.3
    spilling = 0.7
    distribution = 0.0
    hints = ("SHUFFLE_HASH", "MERGE", "MERGE", "")
    outer = 0.0
    partitions = (1, 2, 3, 5, 8)

    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        variant = super().draw_variant(rng, query)
        if rng.random() < 0.8:
            variant["settings"]["spark.sql.autoBroadcastJoinThreshold"] = "-1"
        return variant


class LatestRows(PlainlyWritten):
    """LAST JOINs with equalities alone. One right row of each key is kept; the left side may wait for their number."""

    name = "last_join_latest"
    sizes = (12, 60, 300, 1000)
    keys = (["l.k = r.k"], ["l.k = r.k"], ["l.k = r.k", "r.s = l.s"], ["l.k <=> r.k"])
    as_of = 0.0
    tolerance = 0.0
    residual = 0.05
    hints = ("", "", "BROADCAST", "BROADCAST", "SHUFFLE_HASH", "MERGE")
    outer = 0.0

    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        variant = super().draw_variant(rng, query)
        if variant["hint"] == "BROADCAST" and query["keys"] and rng.random() < 0.7:
            # the right side is measured first, and found too large
            variant["settings"] |= {
                "spark.joinery.lastJoin.maxBroadcast": "1b",
                "spark.sql.adaptive.enabled": "true",
                "spark.sql.exchange.reuse": "true",
            }
        return variant


class StoredCutLastJoin(PlainlyWritten):
    """LAST JOINs cut by time at the boundaries of a stored distribution."""

    name = "last_join_stored_cuts"
    sizes = (120, 300, 1000)
    kinds = ("int", "bigint", "date", "timestamp", "decimal(10,2)")
    residual = 0.05
    cut = 1.0
    hints = ("SHUFFLE_HASH", "MERGE")
    distribution = 0.8
    outer = 0.0
