"""LAST JOIN, against a left join with the rank of each match."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from fuzz.capability import Capability, Case
from fuzz.cases.last_join_terms import (
    DIRECTIONS,
    FAMILIES,
    FLIPPED,
    KEYS,
    NAMES,
    ORDER_TYPES,
    RESIDUALS,
    REVERSE,
    TOLERANCES,
    offset,
)
from fuzz.data import Table, column
from fuzz.running import Answer, plain, row_texts
from fuzz.settings import SPLIT_LAST_JOINS, Settings, draw_physical

HINTS = ["BROADCAST", "SHUFFLE_HASH", "SHUFFLE_HASH", "MERGE", "MERGE", ""]
# Separators between the words LAST and JOIN, and other spellings of the words.
RARE_SPACES = ["\u00a0", "\u3000", "\u2003", "\t", "\n", "/* LAST */", "-- JOIN\n", "\u2028", "\u1680"]
SPACES = [" "] * 24 + RARE_SPACES
WORDS = [["${fuzz.last}", "JOIN"], ["last", "${fuzz.join}"], ["Last", "join"]]
VARIABLE = {"fuzz.last": "LAST", "fuzz.join": "JOIN"}
OF_LEFT = re.compile(r"\bl\.(\w+)")

# LAST JOINs in a scalar or LATERAL subquery, with columns of the outer query in ON or in a condition on left rows.
OUTER = [
    ["scalar", "r.v <= o.v", None],
    ["scalar", "l.v <= o.v", None],
    ["lateral", "r.v <= o.v", None],
    ["lateral", "r.k = o.k", None],
    ["scalar", "l.v + r.v <= o.v + 3", None],
    ["scalar", None, "l.k = o.k"],
    ["lateral", None, "l.v < o.v"],
    ["lateral", "r.v <= o.v", "l.k = o.k AND l.v <> o.v"],
]
# Conditions on left rows. If ON has that key, they also hold for right rows that match.
OF_LEFT_ROWS = [
    "l.k = 1",
    "l.k IN (0, 1, 5)",
    "l.k > 0 AND l.k <= 3",
    "l.s = 'a'",
    "l.k <=> 2",
    "l.k IS NOT NULL",
    "l.id > 3",
]
SIZES = [12, 60, 120, 120, 300, 300, 1000, 2000]
POOLS = ["dense", "many", "wide", "ends", "changes", "mixed"]


class LastJoin(Capability):
    name = "last_join"
    sizes: Sequence[int] = SIZES
    pools: Sequence[str] = POOLS
    kinds: Sequence[str] = ORDER_TYPES
    keys: Sequence[list[str]] = KEYS
    lengths: Sequence[int | None] = (None, None, None, None, None, None, 0, 1)
    as_of = 0.75
    other_way = 0.1
    padding = 0.3
    padded = 0.7
    paddings = "padding"
    tolerance = 0.5
    residual = 0.25
    cut = 0.5
    spilling = 0.15
    hints: Sequence[str] = HINTS
    outer = 0.05
    spaces: Sequence[str] = SPACES
    words = 0.05
    unnamed = 0.15
    distribution = 0.08
    large_keys: Sequence[str] = ("many", "sequence")
    partitions: Sequence[int] = ()

    def draw_tables(self, rng: random.Random) -> dict[str, Table]:
        size = rng.choice(self.sizes)
        keys = rng.choice(["few", "hot", "many", "sequence", "dense", "one"] if size <= 1000 else self.large_keys)
        order = rng.choice(self.pools) if size <= 1000 else "many"
        padding = rng.random() < self.padding
        tables = {}
        for side in "lr":
            length = rng.choice(self.lengths)
            rows = size if length is None else length
            columns = {
                "id": column("int", "sequence"),
                "k": column("int", keys, rng.choice([0.0, 0.05])),
                "s": column("string", rng.choice(["few", "few", "ends"]), rng.choice([0.0, 0.05])),
                "v": column("bigint", rng.choice(["few", "hot"])),
                **{NAMES[kind]: column(kind, order, rng.choice([0.0, 0.0, 0.1])) for kind in ORDER_TYPES},
            }
            if padding:
                columns["p"] = column("string", self.paddings)
            tables[side] = {
                "seed": rng.getrandbits(32),
                "rows": rows,
                "files": rng.choice([1, 2, 4]),
                "columns": columns,
            }
            if rng.random() < self.distribution:
                order_by = NAMES[rng.choice(self.kinds)]
                tables[side]["distribution"] = {"keys": ["k"], "order": order_by, "rows": rng.choice([2, 10])}
        return tables

    def draw_query(self, rng: random.Random, tables: dict[str, Table]) -> dict[str, Any]:
        large = max(table["rows"] for table in tables.values()) > 1000
        keys = rng.choice([["l.k = r.k"], ["l.k = r.k", "l.s <=> r.s"]] if large else self.keys)
        kind = rng.choice(self.kinds)
        known = [table["distribution"]["order"] for table in tables.values() if "distribution" in table]
        if known and rng.random() < 0.8:
            kind, keys = next(kind for kind in ORDER_TYPES if NAMES[kind] == known[0]), ["l.k = r.k"]
        order: list[list[str]] = []
        if rng.random() < 0.9:
            order = [[f"r.{NAMES[kind]}", rng.choice(DIRECTIONS)]]
            if rng.random() < 0.2:
                order.append([f"r.{NAMES[rng.choice(ORDER_TYPES)]}", rng.choice(DIRECTIONS)])
            if rng.random() < 0.6:
                order.append(["r.id", rng.choice(DIRECTIONS)])
        query: dict[str, Any] = {"keys": keys, "order": order, "conditions": self.draw_conditions(rng, kind, order)}
        if rng.random() < (self.residual / 3 if large else self.residual):
            query["conditions"].append(f"({rng.choice(RESIDUALS)})")
        query["padding"] = "p" in tables["r"]["columns"] and rng.random() < self.padded
        query["space"] = [rng.choice(self.spaces) for _ in range(3)]
        if rng.random() < self.words:
            query["words"] = rng.choice(WORDS)
        if rng.random() < 0.15 and order and order[-1][0] == "r.id":
            query["filter"] = rng.choice(["right_id IS NULL", "right_v > 1", "id % 2 = 0 AND right_id > 3"])
        if self.outer and query["keys"] and rng.random() < self.outer and not large:
            # an answer that depends on the outer row must not depend on which of several tied rows is last
            query["order"] = [term for term in order if term[0] != "r.id"] + [["r.id", "ASC"]]
            query["outer"] = rng.choice(OUTER)
            query.pop("filter", None)
        if rng.random() < self.unnamed and not query.get("outer"):
            self.make_unnamed(rng, query)
        elif not query.get("outer"):
            if rng.random() < 0.15:
                query["of_left"] = rng.choice(OF_LEFT_ROWS)
            if rng.random() < 0.1 and not query.get("filter"):
                query["top"] = f"ORDER BY id {rng.choice(DIRECTIONS)} LIMIT {rng.choice([1, 3, 10, 50, 5000])}"
        return query

    def make_unnamed(self, rng: random.Random, query: dict[str, Any]) -> None:
        """Drop the left side's alias, and ORDER BY, so that a parser without LAST JOIN would read an inner join."""
        query |= {"unnamed": True, "order": []}
        query.pop("filter", None)  # any of several rows may be the last
        first, _, third = query["space"]
        query["space"] = [first, rng.choice(RARE_SPACES), third]
        if rng.random() < 0.6:
            query["words"] = rng.choice(WORDS)

    def draw_conditions(self, rng: random.Random, kind: str, order: list[list[str]]) -> list[str]:
        """Draw comparisons of the ORDER BY column with the left time: as-of comparison or none, tolerances or none."""
        name = NAMES[kind]
        descending = bool(order) and order[0][1].startswith("DESC")
        drawn = []
        if rng.random() < self.as_of:
            compared = rng.choice(["<=", "<"] if descending is (rng.random() < self.other_way) else [">=", ">"])
            drawn.append(rng.choice([f"r.{name} {compared} l.{name}", f"l.{name} {FLIPPED[compared]} r.{name}"]))
        if kind != "string" and rng.random() < self.tolerance:
            patterns = TOLERANCES[FAMILIES.get(kind, "number")]
            sides = "rl" if descending else "lr"  # time runs the other way
            left, right = (f"{side}.{name}" for side in sides)
            drawn.append(
                rng.choice(patterns).format(l=left, r=right, x=offset(rng, kind), n=rng.choice([0, 1, 2, 3, 30]))
            )
        return drawn

    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        forced: Settings = {}
        if rng.random() < self.cut:
            forced |= SPLIT_LAST_JOINS
        if rng.random() < 0.15:
            forced["spark.joinery.lastJoin.maxHashPartition"] = rng.choice(["-1", "1b"])
        if rng.random() < self.spilling:
            forced["spark.sql.sortMergeJoinExec.buffer.spill.threshold"] = rng.choice(["2", "40"])
        if rng.random() < 0.2:
            forced["spark.sql.autoBroadcastJoinThreshold"] = rng.choice(["1", "1k"])
        if self.partitions:
            forced["spark.sql.shuffle.partitions"] = str(rng.choice(self.partitions))
        twice = rng.random() < 0.1 and not query.get("outer")
        return {"hint": rng.choice(self.hints), "twice": twice, "settings": draw_physical(rng, forced)}

    def meaning(self, case: Case) -> Settings:
        return dict(VARIABLE) if case["query"].get("words") else {}

    def columns(self, case: Case) -> str:
        padding = ", r.p AS right_p" if case["query"].get("padding") else ""
        order = "".join(f", {term} AS order_{i}" for i, (term, _) in enumerate(case["query"]["order"]))
        return f"l.id, r.id AS right_id, r.v AS right_v{order}{padding}"

    def on(self, case: Case) -> str:
        outer = case["query"].get("outer")
        correlated = [outer[1]] if outer and outer[1] else []
        return " AND ".join([*case["query"]["keys"], *case["query"]["conditions"], *correlated]) or "true"

    def left(self, case: Case) -> str:
        query = case["query"]
        of_left = query["outer"][2] if query.get("outer") else query.get("of_left")
        return f"(SELECT * FROM l WHERE {of_left})" if of_left else "l"

    def join(self, case: Case) -> str:
        """The text of the join, from FROM on."""
        query = case["query"]
        first, second, third = query.get("space") or [" "] * 3
        last, join = query.get("words") or ["LAST", "JOIN"]
        terms = ", ".join(f"{term} {way}" for term, way in query["order"])
        order = f"ORDER BY {terms} " if terms else ""
        left, on = f"{self.left(case)}{first}l{first}", self.on(case)
        if query.get("unnamed"):
            used = sorted(set(OF_LEFT.findall(f"{self.columns(case)} {on}")))
            left = f"(SELECT {', '.join(f'{name} AS l_{name}' for name in used)} FROM l){first}"
            on = unqualified(on)
        return f"FROM {left}{last}{second}{join}{third}r {order}ON {on}"

    def sql(self, case: Case) -> str:
        hint = case["variant"].get("hint")
        hinted = f"/*+ {hint}(r) */ " if hint else ""
        if case["query"].get("outer"):
            return within(case["query"]["outer"][0], hinted, self.join(case))
        columns = self.columns(case)
        if case["query"].get("unnamed"):
            columns = unqualified(columns).replace("l_id", "l_id AS id", 1)
        joined = f"SELECT {hinted}{columns} {self.join(case)}"
        sql = with_filter(joined, case["query"].get("filter"))
        if case["query"].get("top"):
            sql = f"{sql} {case['query']['top']}"
        return f"SELECT * FROM ({sql}) UNION ALL SELECT * FROM ({sql})" if case["variant"].get("twice") else sql

    def reverse(self, case: Case) -> str:
        return ", ".join(f"{term} {REVERSE[way]}" for term, way in case["query"]["order"])

    def probe_sql(self, case: Case) -> str | None:
        if not case["query"].get("outer"):
            return None
        kind = case["query"]["outer"][0]
        return within(kind, "", f"FROM {self.left(case)} l LEFT JOIN r ON {self.on(case)}")

    def oracle_sql(self, case: Case) -> str:
        if case["query"].get("outer"):
            return f"""
                SELECT o.id, total FROM {FEW_OUTER} LEFT JOIN (
                  SELECT outer_id, {TOTAL.format(left="id", right="right_id")} AS total FROM (
                    SELECT o.id AS outer_id, l.id, r.id AS right_id,
                      rank() OVER (PARTITION BY o.id, l.id ORDER BY {self.reverse(case)}) AS place
                    FROM {FEW_OUTER} CROSS JOIN l LEFT JOIN r ON {self.on(case)}
                    WHERE {case["query"]["outer"][2] or "true"}
                  ) WHERE place = 1 GROUP BY outer_id) ON outer_id = o.id"""
        place = f"rank() OVER (PARTITION BY l.id ORDER BY {self.reverse(case) or '1'})"
        left = self.left(case)
        if case["query"].get("top"):
            left = f"(SELECT * FROM {left} l {case['query']['top']})"
        matches = f"SELECT {self.columns(case)}, {place} AS place FROM {left} l LEFT JOIN r ON {self.on(case)}"
        names = "id, right_id, right_v" + "".join(f", order_{i}" for i in range(len(case["query"]["order"])))
        names += ", right_p" if case["query"].get("padding") else ""
        return with_filter(f"SELECT {names} FROM ({matches}) WHERE place = 1", case["query"].get("filter"))

    def difference(self, right: Answer, found: Answer, case: Case) -> str | None:
        assert right.rows is not None
        assert found.rows is not None
        if right.rows.num_columns != found.rows.num_columns:
            return f"{found.rows.num_columns} columns instead of {right.rows.num_columns}"
        candidates: dict[Any, set[tuple[str, ...]]] = defaultdict(set)
        for key, row in zip(plain(right.rows.column(0)), row_texts(right.rows), strict=True):
            candidates[key].add(row)
        keys = plain(found.rows.column(0))
        wanted = Counter({key: 2 if case["variant"].get("twice") else 1 for key in candidates})
        if Counter(keys) != wanted:
            return f"{len(keys)} rows instead of {wanted.total()}, or of other rows of the left side"
        wrong = [
            (row, sorted(candidates.get(key, ()))[:2])
            for key, row in zip(keys, row_texts(found.rows), strict=True)
            if row not in candidates.get(key, ())
        ]
        return (
            f"{len(wrong)} of {len(keys)} rows are wrong, such as {wrong[0][0]} instead of {wrong[0][1]}"
            if wrong
            else None
        )


TOTAL = "sum(coalesce({right}, -7) * 31L + {left})"
FEW_OUTER = "(SELECT * FROM l WHERE id < 7) o"


def unqualified(sql: str) -> str:
    """An expression with the names of an unnamed left side's columns: l_x in place of l.x."""
    return OF_LEFT.sub(r"l_\1", sql)


def within(kind: str, hint: str, join: str) -> str:
    """A query with a join in a subquery, which runs for each row of another relation, o."""
    total = f"SELECT {hint}{TOTAL.format(left='l.id', right='r.id')} AS total {join}"
    if kind == "scalar":
        return f"SELECT o.id, ({total}) AS total FROM {FEW_OUTER}"
    return f"SELECT o.id, j.total FROM {FEW_OUTER}, LATERAL ({total}) j"


def with_filter(sql: str, condition: str | None) -> str:
    """A query with a condition on its rows."""
    return f"SELECT * FROM ({sql}) WHERE {condition}" if condition else sql
