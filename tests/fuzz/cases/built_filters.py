"""Runtime filters that a query builds: equi-joins of every kind, against the same query without filters."""

from __future__ import annotations

import random
from typing import Any

from fuzz.capability import Capability, Case
from fuzz.cases.range_join import TYPES as RANGE_TYPES
from fuzz.data import Table, column
from fuzz.running import Answer, other_rows
from fuzz.settings import Settings, draw_physical

TYPES = {**RANGE_TYPES, "bool": "boolean"}
POOLS = ["dense", "many", "few", "wide", "ends", "changes", "mixed"]
# Join keys of two tables; {n} is the name of a type.
KEYS = [
    *["{a}.k_{n} = {b}.k_{n}"] * 6,
    "{b}.k_{n} = {a}.k_{n}",
    "{a}.k_{n} <=> {b}.k_{n}",
    "coalesce({a}.k_{n}, {a}.j_{n}) = {b}.k_{n}",
]
NUMBER_KEYS = ["{a}.k_{n} + 1 = {b}.k_{n}", "abs({a}.k_{n}) = {b}.k_{n}", "{a}.k_{n} = CAST({b}.k_int AS DOUBLE)"]
TEXT_KEYS = [
    "{a}.s COLLATE UTF8_LCASE = {b}.s COLLATE UTF8_LCASE",
    "CAST({a}.s AS BINARY) = CAST({b}.s AS BINARY)",
    "{a}.s = {b}.s",
    "upper({a}.s) = {b}.s",
    "CAST({a}.s AS INT) = {b}.k_int",
]
BESIDE = ["{a}.v <> {b}.v", "{a}.j_{n} <= {b}.k_{n}", "{a}.j_{n} > {b}.j_{n}", "({a}.v = 1 OR {b}.v = 2)"]
PADDED = ["LEFT JOIN r y ON x.id = y.id + 20", "LAST JOIN r y ORDER BY y.id ON x.id = y.id + 20"]
# A side may read one of these instead of a table; {t} is the table's name, {n} the name of a type.
SIDES = [
    *["{t}"] * 4,
    "(SELECT * FROM {t} WHERE v > 2)",
    "(SELECT * FROM {t} WHERE v > 2 AND spark_partition_id() >= 0)",  # no filter is built from it before it is shuffled
    "(SELECT * FROM {t} WHERE k_{n} IS NOT NULL AND v <> 1)",
    "(SELECT * FROM {t} WHERE k_{n} = j_{n})",
    "(SELECT * FROM {t} UNION ALL SELECT * FROM r WHERE v = 3)",
    "(SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k_{n} ORDER BY id) AS w FROM {t}) WHERE w < 3)",
    "(SELECT x.* FROM {t} x JOIN r y ON x.k_{n} = y.k_{n} AND y.id < 20)",
    "(SELECT x.* FROM {t} x LEFT JOIN r y ON x.j_{n} = y.k_{n})",
    "(SELECT x.* EXCEPT (k_int), coalesce(y.k_int, 7) AS k_int FROM {t} x LEFT JOIN r y ON x.id = y.id + 20)",
    "(SELECT x.* EXCEPT (k_int), nvl(y.k_int, 7) AS k_int FROM {t} x LAST JOIN r y ORDER BY y.id ON x.id = y.id + 20)",
    "(SELECT x.* FROM {t} x LAST JOIN r y ORDER BY y.id ON x.k_{n} = y.k_{n})",
    "(SELECT * FROM {t} ORDER BY id LIMIT 30)",
    "(SELECT x.* EXCEPT (k_int), coalesce((SELECT y.k_int FROM r y WHERE y.id = x.id + 20), 7) AS k_int FROM {t} x)",
    "(SELECT x.* EXCEPT (k_int), (SELECT max(k_int) FROM m) AS k_int FROM {t} x "
    "LEFT ANTI JOIN r y ON x.id = y.id + 20)",
    "(SELECT x.* EXCEPT (s), y.s FROM {t} x JOIN (SELECT CAST(k_float AS STRING) AS s, min(id) AS first FROM {t} "
    "GROUP BY k_float) y ON x.id = y.first)",
    "(SELECT * FROM {t} WHERE is_int(s))",
    "(SELECT * FROM {t} WHERE s IN (SELECT s FROM m WHERE s RLIKE '^[0-9]+$'))",
]
FORMATS = ["orc", "csv", "json"]
JOINS = [
    "JOIN",
    "JOIN",
    "JOIN",
    "LEFT JOIN",
    "RIGHT JOIN",
    "FULL JOIN",
    "LEFT SEMI JOIN",
    "LEFT ANTI JOIN",
    "LAST JOIN",
]
ROLES = ["l.k_{n} = r.k_{n}", "l.j_{n} = m.k_{n}"]
NUMBERS = ("tiny", "small", "int", "big", "dec", "float", "double")


class BuiltFilters(Capability):
    name = "built_filters"
    sizes = (0, 1, 5, 40, 200, 400)

    def draw_tables(self, rng: random.Random) -> dict[str, Table]:
        return {name: self._table(rng) for name in ("l", "r", "m")}

    def _table(self, rng: random.Random) -> Table:
        columns = {
            "id": column("int", "sequence"),
            "s": column("string", rng.choice(["few", "few", "mixed", "many", "ends"]), 0.05),
            "v": column("int", "few"),
        }
        for name, kind in TYPES.items():
            pool = rng.choice(POOLS)
            for prefix in ("k", "j"):
                columns[f"{prefix}_{name}"] = column(kind, pool, rng.choice([0.0, 0.1]))
        rows = rng.choice(self.sizes)
        table = {"seed": rng.getrandbits(32), "rows": rows, "files": rng.choice([1, 2, 3]), "columns": columns}
        if rng.random() < 0.25:
            return {**table, "format": rng.choice(FORMATS)}
        return {**table, "unit": "ms"} if rng.random() < 0.2 else table

    def draw_query(self, rng: random.Random, tables: dict[str, Table]) -> dict[str, Any]:
        names = rng.choices(list(TYPES), k=2)
        joins = []
        for left, right in [("l", "r"), ("lr", "m")][: rng.choice([1, 1, 2])]:
            name = rng.choice(names)
            keys = KEYS * 2 + (NUMBER_KEYS if name in NUMBERS else []) + TEXT_KEYS
            drawn = [rng.choice(keys) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
            if rng.random() < 0.3:
                drawn.append(rng.choice(BESIDE))
            on = " AND ".join(key.format(a=rng.choice(left), b=right, n=name) for key in drawn)
            kinds = JOINS if right == "m" or len(joins) == 0 else JOINS[:5]
            joins.append({"join": rng.choice(kinds), "side": rng.choice(SIDES).format(t=right, n=name), "on": on})
        if len(joins) == 2 and joins[0]["join"] in ("LEFT SEMI JOIN", "LEFT ANTI JOIN"):
            joins[1]["on"] = joins[1]["on"].replace("r.", "l.")
        if len(joins) == 2 and rng.random() < 0.3:  # one table in two roles
            joins[0]["on"], joins[1]["on"] = (key.format(n=names[0]) for key in ROLES)
            joins[1]["side"] = joins[0]["side"]
        side = rng.choice(SIDES).format(t="l", n=names[0])
        return {"side": side, "joins": joins, "where": rng.choice(["", "", "l.v > 1", "l.id < 50"])}

    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        forced: Settings = {
            "spark.sql.autoBroadcastJoinThreshold": "-1",
            "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
            "spark.joinery.runtimeFilter.maxKeys": rng.choice(["1000000", "1000000", "20", "1"]),
        }
        if rng.random() < 0.2:
            forced["spark.sql.optimizer.runtime.bloomFilter.applicationSideScanSizeThreshold"] = "0"
        if rng.random() < 0.1:
            forced["spark.sql.execution.reuseSubquery"] = "false"
        hints = rng.choice([[], ["RUNTIME_FILTER(l)"], ["RUNTIME_FILTER(r)"], ["RUNTIME_FILTER(r, m)"]])
        return {"hints": hints, "settings": draw_physical(rng, forced)}

    def sql(self, case: Case) -> str:
        return self._sql(case, case["variant"].get("hints", []))

    def oracle_sql(self, case: Case) -> str:
        return self._sql(case, [])

    def _sql(self, case: Case, hints: list[str]) -> str:
        query = case["query"]
        hint = f"/*+ {', '.join(hints)} */ " if hints else ""
        columns, text = ["l.id AS l_id", "l.v"], f"{query.get('side', 'l')} l"
        for alias, join in zip("rm", query["joins"], strict=False):
            kind = join.get("join", "JOIN")
            order = f" ORDER BY {alias}.v, {alias}.id" if kind == "LAST JOIN" else ""
            text += f" {kind} {join.get('side', alias)} {alias}{order} ON {join['on']}"
            if kind not in ("LEFT SEMI JOIN", "LEFT ANTI JOIN"):
                columns.append(f"{alias}.id AS {alias}_id")
        where = f" WHERE {query['where']}" if query.get("where") else ""
        return f"SELECT {hint}{', '.join(columns)} FROM {text}{where}"

    def expects(self, error: Exception, case: Case) -> bool:
        # other formats do not take all values, and Spark does not register all its classes if Kryo requires that
        foreign = any("format" in table for table in case["tables"].values())
        return foreign and any(text in str(error) for text in ("TASK_WRITE_FAILED", "Class is not registered"))

    def difference(self, right: Answer, found: Answer, case: Case) -> str | None:
        return other_rows(right, found)

    def meaning(self, case: Case) -> Settings:
        return {"spark.joinery.lastJoin.enabled": "true"}  # LAST JOIN is not under test here
