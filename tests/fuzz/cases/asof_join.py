"""ASOF JOIN in Spark's syntax, against a left join with the rank of each match."""

from __future__ import annotations

import random
from typing import Any

from fuzz.capability import Case
from fuzz.cases.last_join import LastJoin
from fuzz.cases.last_join_terms import FLIPPED, KEYS, NAMES, ORDER_TYPES, RESIDUALS
from fuzz.data import Table


class AsOfJoin(LastJoin):
    name = "asof_join"
    outer = 0.0

    def draw_query(self, rng: random.Random, tables: dict[str, Table]) -> dict[str, Any]:
        large = max(table["rows"] for table in tables.values()) > 1000
        name = NAMES[rng.choice([kind for kind in ORDER_TYPES if kind != "string"])]
        compared = rng.choice(list(FLIPPED))
        keys = ["l.k = r.k"] if large else rng.choice(KEYS)
        return {
            "keys": keys,
            "order": [[f"r.{name}", "ASC" if compared.startswith(">") else "DESC NULLS FIRST"]],
            "match": rng.choice([f"l.{name} {compared} r.{name}", f"r.{name} {FLIPPED[compared]} l.{name}"]),
            "conditions": [f"({rng.choice(RESIDUALS)})"] if rng.random() < 0.2 and not large else [],
            "kind": rng.choice(["LEFT", "LEFT OUTER", "", "INNER"]),
            "space": [rng.choice(self.spaces) for _ in range(3)],
        }

    def join(self, case: Case) -> str:
        query = case["query"]
        first, second, third = query.get("space") or [" "] * 3
        condition = " AND ".join([*query["keys"], *query["conditions"]])
        kind = f"{query['kind']}{first}" if query.get("kind") else ""
        on = f"ON {condition}" if condition else ""
        return f"FROM l l {kind}ASOF{second}JOIN{third}r MATCH_CONDITION ({query['match']}) {on}"

    def on(self, case: Case) -> str:
        query = case["query"]
        return " AND ".join([*query["keys"], *query["conditions"], query["match"]])

    def oracle_sql(self, case: Case) -> str:
        sql = super().oracle_sql(case)
        return (
            sql
            if case["query"].get("kind", "").startswith("LEFT")
            else f"SELECT * FROM ({sql}) WHERE right_id IS NOT NULL"
        )
