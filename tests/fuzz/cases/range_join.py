"""Range joins, against the same query with Joinery's operators switched off."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from fuzz.capability import Capability, Case
from fuzz.data import Table, column
from fuzz.running import Answer, other_rows
from fuzz.settings import Settings, draw_physical

TYPES = {
    "tiny": "tinyint",
    "small": "smallint",
    "int": "int",
    "big": "bigint",
    "dec": "decimal(10,2)",
    "dec38": "decimal(38,4)",
    "float": "float",
    "double": "double",
    "date": "date",
    "ts": "timestamp",
    "ntz": "timestamp_ntz",
    "string": "string",
}
POOLS = ["dense", "dense", "many", "few", "wide", "ends", "changes", "mixed"]
# Spark generates no code for `zip_with` and `map_filter`, and evaluates them on rows.
KEYS = [
    [],
    [],
    [],
    ["l.k = r.k"],
    ["l.k = r.k", "r.s = l.s"],
    ["l.k <=> r.k"],
    ["l.k % 3 = abs(r.k)"],
    ["zip_with(array(l.k), array(0), (a, b) -> a + b)[0] = r.k"],
]
RESIDUALS = [
    "(l.v + r.v) % 3 = 0",
    "r.s > l.s",
    "l.v <> r.v",
    "(l.v > 2 OR r.v > 2)",
    "l.x_int - r.x_int <> 1",
    "r.id > (SELECT min(id) FROM r)",
    "size(map_filter(map(coalesce(l.v, 0), r.v), (a, b) -> a <> b)) > 0",
]
# Terms of a side, by type; {a} is one of its columns.
TERMS: dict[str, list[str]] = {
    "number": [
        "{a}",
        "{a}",
        "{a}",
        "{a} + 1",
        "{a} * 2",
        "abs({a})",
        "-{a}",
        "coalesce({a}, 1)",
        "zip_with(array({a}), array(0), (a, b) -> a)[0]",
    ],
    "date": ["{a}", "{a}", "date_add({a}, 3)", "{a} - INTERVAL '2' DAY", "CAST({a} AS TIMESTAMP)"],
    "time": ["{a}", "{a}", "{a} + INTERVAL '5' MINUTE", "{a} - INTERVAL '1' DAY", "{a} + INTERVAL '1' MONTH"],
    "string": ["{a}"],
}
# Comparisons of terms of l with terms of r. Each side has a point {x}, and an interval from {s} to {e}.
RANGES = [
    "{lx} BETWEEN {rs} AND {re}",
    "{rs} <= {lx} AND {lx} < {re}",
    "{rx} BETWEEN {ls} AND {le}",
    "{ls} < {rx} AND {le} >= {rx}",
    "{ls} < {re} AND {rs} < {le}",
    "{ls} <= {re} AND {le} >= {rs}",
    "{lx} < {rx}",
    "{lx} >= {rs}",
    "{lx} BETWEEN {rs} AND {re} AND {rx} BETWEEN {ls} AND {le}",
    "{lx} > {rs} AND {ls} < {re}",
    "{rs} <= {lx} AND ({lx} < {re} OR {re} IS NULL)",
    "({rs} IS NULL OR {lx} >= {rs}) AND ({lx} < {re} OR l.v = 1)",
    "({ls} < {re} OR {re} IS NULL) AND ({rs} < {le} OR {le} IS NULL)",
    "({rx} > {lx} OR {rx} IS NULL OR r.v > 2)",
]
# Differences of two terms, by the kind of their type.
DIFFERENCES: dict[str, list[str]] = {
    "number": ["{lx} - {rx} BETWEEN -5 AND 5", "abs({rx} - {lx}) < 10", "{lx} - {rx} >= 100", "2.5 > abs({lx} - {rs})"],
    "date": [
        "datediff({lx}, {rx}) BETWEEN -3 AND 30",
        "abs(datediff({rs}, {lx})) <= 1",
        "{lx} - {rx} < INTERVAL '2' DAY",
    ],
    "time": ["{lx} - {rx} BETWEEN INTERVAL '-5' MINUTE AND INTERVAL '1' HOUR", "abs({rx} - {lx}) < INTERVAL '3' DAY"],
    "string": [],
}
JOINS = ["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "EXISTS"]


def _kind(name: str) -> str:
    if name in ("ts", "ntz"):
        return "time"
    return name if name in ("date", "string") else "number"


class RangeJoin(Capability):
    name = "range_join"
    asks_the_same = True
    sizes: Sequence[int] = (0, 1, 5, 40, 100, 200)
    parts: Sequence[str] = ("4g", "4g", "1")

    def draw_tables(self, rng: random.Random) -> dict[str, Table]:
        return {name: self._table(rng) for name in ("l", "r")}

    def _table(self, rng: random.Random) -> Table:
        columns = {
            "id": column("int", "sequence"),
            "k": column("int", rng.choice(["few", "hot", "one", "many"]), rng.choice([0.0, 0.1])),
            "s": column("string", "few", 0.05),
            "v": column("int", "few"),
        }
        for name, kind in TYPES.items():
            pool = rng.choice(POOLS)
            for prefix in ("x", "s", "e"):
                columns[f"{prefix}_{name}"] = column(kind, pool, rng.choice([0.0, 0.1]))
        if rng.random() < 0.3:
            columns["p"] = column("string", "padding")
        rows = rng.choice(self.sizes)
        return {"seed": rng.getrandbits(32), "rows": rows, "files": rng.choice([1, 2, 3]), "columns": columns}

    def draw_query(self, rng: random.Random, tables: dict[str, Table]) -> dict[str, Any]:
        name = self.draw_type(rng, tables)
        terms = TERMS[_kind(name)]

        def term(side: str, prefix: str) -> str:
            return rng.choice(terms).format(a=f"{side}.{prefix}_{name}")

        drawn = {f"{side}{prefix}": term(side, prefix) for side in "lr" for prefix in "xse"}
        differences = DIFFERENCES[_kind(name)]
        ranges = differences if differences and rng.random() < 0.3 else RANGES
        conditions = [f"({rng.choice(ranges).format(**drawn)})"]
        if rng.random() < 0.3:
            conditions.insert(rng.randint(0, 1), rng.choice(RESIDUALS))
        query = {"join": rng.choice(JOINS), "keys": rng.choice(KEYS), "conditions": conditions}
        return {**query, "grouped": True} if rng.random() < 0.2 else query

    def draw_type(self, rng: random.Random, tables: dict[str, Table]) -> str:
        """Draw the type of the compared columns, a name in `TYPES`."""
        return rng.choice(list(TYPES))

    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        forced: Settings = {"spark.joinery.rangeJoin.maxIndexPart": rng.choice(self.parts)}
        if rng.random() < 0.5:
            forced["spark.sql.autoBroadcastJoinThreshold"] = "-1"
        if rng.random() < 0.3:
            forced["spark.joinery.rangeJoin.maxBroadcast"] = "1"  # each task builds its own index
        if rng.random() < 0.3:
            forced["spark.joinery.skewSplit.minPartition"] = "100"
        hints = rng.choice(
            [[], ["RANGE_JOIN(r)"], ["RANGE_JOIN(l, 5)"], ["RANGE_JOIN(r)", "BROADCAST(r)"], ["BROADCAST(l)"]]
        )
        return {"hints": hints, "settings": draw_physical(rng, forced)}

    def sql(self, case: Case) -> str:
        return self._sql(case, case["variant"].get("hints", []))

    def oracle_sql(self, case: Case) -> str:
        return self._sql(case, [])

    def hinted_sql(self, case: Case) -> str | None:
        return self.sql(case) if case["variant"].get("hints") else None

    def _sql(self, case: Case, hints: list[str]) -> str:
        query = case["query"]
        right = self.right(case)
        on = " AND ".join([*query["keys"], *query["conditions"]]).replace("FROM r)", f"FROM {right})") or "true"
        hint = f"/*+ {', '.join(hints)} */ " if hints else ""
        match query.get("join", "JOIN"):
            case "EXISTS":
                inner = f"/*+ {', '.join(hints)} */ " if hints and "(l" not in "".join(hints) else ""
                columns, last = "id", "found"
                sql = f"SELECT l.id, EXISTS (SELECT {inner}1 FROM {right} r WHERE {on}) AS found FROM l"
            case "LEFT SEMI JOIN" | "LEFT ANTI JOIN" as join:
                columns, last = "id", "s"
                sql = f"SELECT {hint}l.id, l.s FROM l l {join} {right} r ON {on}"
            case join:
                columns, last = "id, right_id, s", "v"
                sql = f"SELECT {hint}l.id, r.id AS right_id, l.s, r.v FROM l l {join} {right} r ON {on}"
        if not query.get("grouped"):
            return sql
        # above an aggregate without generated code, plans go into tasks
        counted = ", ".join(f"count({column}) AS n_{column}" for column in columns.split(", "))
        return f"SELECT {last}, count(*) AS n, {counted}, sum(id) AS ids FROM ({sql}) GROUP BY {last}"

    def right(self, case: Case) -> str:
        """The name of the right table."""
        return "r"

    def difference(self, right: Answer, found: Answer, case: Case) -> str | None:
        return other_rows(right, found)


class ScarceRangeJoin(RangeJoin):
    """Range joins in tasks with little memory."""

    name = "range_join_scarce"
    scarce = True
    sizes = (200, 400, 600)
    parts = ("4g", "64k", "1")
