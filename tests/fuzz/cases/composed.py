"""Queries of several steps: what one says of its rows, how they are distributed and sorted, the next builds on."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from fuzz.capability import Capability, Case
from fuzz.cases.last_join_terms import REVERSE
from fuzz.data import Table, column, register
from fuzz.running import Answer, other_rows, row_texts
from fuzz.settings import SAMPLED_WINDOWS, SPLIT_LAST_JOINS, SPLIT_WINDOWS, Settings, draw_physical

# Each step is a CTE of the columns id, k, o and v over the one before, x; y is a table or an earlier step. An id is
# in it once, so that a LAST JOIN over it has one answer.
ROWS = "CAST(id AS BIGINT) AS id, k, o, v"
LAST_JOINS = ["x.k = y.k", "x.k = y.k", "x.k <=> y.k AND y.o <= x.o", "x.k = y.k AND y.o <= x.o", "y.o < x.o"]
LAST_JOINS += ["x.k = y.k AND y.o <= x.o AND y.v <> x.v", "x.k = y.k AND x.v = y.v AND y.o <= x.o"]
PARTITIONS = ["PARTITION BY k", "PARTITION BY k", "PARTITION BY k, v % 2", "PARTITION BY o % 5", ""]
WINDOWS = [
    "sum(v) OVER ({by} ORDER BY o, id ROWS BETWEEN {n} PRECEDING AND CURRENT ROW)",
    "max(v) OVER ({by} ORDER BY o, id ROWS BETWEEN {n} PRECEDING AND 1 FOLLOWING)",
    "sum(v) OVER ({by} ORDER BY o RANGE BETWEEN {n} PRECEDING AND CURRENT ROW)",
    "count(*) OVER ({by} ORDER BY o DESC RANGE BETWEEN {n} PRECEDING AND {n} FOLLOWING)",
    "sum(v) OVER ({by} ORDER BY o, id)",
    "row_number() OVER ({by} ORDER BY o, id)",
    "lag(v, {n}) OVER ({by} ORDER BY o DESC, id)",
]
JOINS = ["x.k = y.k", "x.o BETWEEN y.o AND y.o + 9", "x.k = y.k AND x.o BETWEEN y.o - 5 AND y.o + 5", "x.o = y.o"]
JOINS += ["x.k = y.k AND x.v = y.v"]
KINDS = ["JOIN", "JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "RIGHT JOIN"]
RESHAPED = [
    "SELECT /*+ REPARTITION(3, k) */ * FROM {x}",
    "SELECT /*+ REPARTITION_BY_RANGE(4, o) */ * FROM {x}",
    "SELECT * FROM {x} DISTRIBUTE BY k SORT BY k, o",
    "SELECT * FROM {x} CLUSTER BY o",
    "SELECT * FROM {x} ORDER BY o DESC, id LIMIT 60",
    "SELECT * FROM {x} WHERE id % 2 = 0 UNION ALL SELECT * FROM {x} WHERE id % 2 <> 0",
    "SELECT max(id) AS id, k, o, sum(v) % 1000 AS v FROM {x} GROUP BY k, o",
    "SELECT max(id) AS id, k, max(o) AS o, count(*) AS v FROM {x} GROUP BY k",
    "SELECT * FROM {x} WHERE v > (SELECT min(v) FROM {x})",
]
# How a table lies there already: in memory, or in buckets.
CACHED = [
    "SELECT * FROM {t}",
    "SELECT /*+ REPARTITION(3, k) */ * FROM {t}",
    "SELECT * FROM {t} DISTRIBUTE BY k SORT BY k, o",
    "SELECT * FROM {t} CLUSTER BY o",
]
BUCKETED = "bucketed"
# What the query does with the rows of the last step, {x}; a LIMIT takes any of them.
LIMITS = {"LIMIT 7": 7, "LIMIT 60": 60, "LIMIT 1000": 1000}
ENDS = [
    *LIMITS,
    "GROUPED: SELECT k, count(*) AS n, sum(id) AS ids, min(v) AS least FROM {x} GROUP BY k",
    "DISTINCT: SELECT DISTINCT k, v FROM {x}",
    "COUNTED: SELECT count(*) AS n, max(o) AS last FROM {x}",
    "ANY: SELECT EXISTS (SELECT 1 FROM {x} WHERE v > 3) AS found, (SELECT count(*) FROM {x}) AS n",
]
HINTS = {
    "last": ["BROADCAST(y)", "SHUFFLE_HASH(y)", "SHUFFLE_HASH(y)", "MERGE(y)", "MERGE(y)", ""],
    "window": ["SKEW_WINDOW(2)", "SKEW_WINDOW(5)", "", ""],
    "join": ["RANGE_JOIN(y)", "RANGE_JOIN(y), BROADCAST(y)", "RUNTIME_FILTER(y)", "MERGE(y)", ""],
    "reshaped": [""],
}


class Composed(Capability):
    name = "composed"
    queries = 8

    def __init__(self) -> None:
        self.lying: dict[str, Path] = {}  # the folders of tables that were read from there already, by name

    def draw_tables(self, rng: random.Random) -> dict[str, Table]:
        return {name: self._table(rng) for name in ("l", "r")}

    def _table(self, rng: random.Random) -> Table:
        columns = {
            "id": column("int", "sequence"),
            "k": column("int", rng.choice(["few", "hot", "dense", "many"]), rng.choice([0.0, 0.1])),
            "o": column("int", rng.choice(["dense", "many", "few"]), rng.choice([0.0, 0.05])),
            "v": column("bigint", rng.choice(["few", "dense"])),
        }
        rows = rng.choice([1, 20, 100, 300, 300, 800])
        table = {"seed": rng.getrandbits(32), "rows": rows, "files": rng.choice([1, 2, 4]), "columns": columns}
        return {**table, "lies": rng.choice([*CACHED, BUCKETED])} if rng.random() < 0.35 else table

    def prepare(self, spark: SparkSession, folder: Path, case: Case) -> None:
        super().prepare(spark, folder, case)
        for name, table in case["tables"].items():
            path = register(spark, folder, name, table)
            if "lies" in table and self.lying.get(name) != path:
                laid(spark, name, f"{name}_{path.name}", table["lies"]).createOrReplaceTempView(name)
                self.lying[name] = path

    def draw_query(self, rng: random.Random, tables: dict[str, Table]) -> dict[str, Any]:
        steps: list[dict[str, Any]] = []
        for i in range(rng.choice([2, 2, 3, 3, 4])):
            match rng.choice(["last", "last", "window", "join", "reshaped"]):
                case "last":
                    order = [["y.o", rng.choice(list(REVERSE))], ["y.id", "ASC"]]
                    other = rng.choice([None, None, *range(i)])
                    steps.append({"kind": "last", "on": rng.choice(LAST_JOINS), "order": order, "other": other})
                case "window":
                    call = rng.choice(WINDOWS).format(by=rng.choice(PARTITIONS), n=rng.choice([0, 1, 3, 20]))
                    steps.append({"kind": "window", "call": call})
                case "join" if sum(step["kind"] == "join" for step in steps) < 2:
                    steps.append({"kind": "join", "on": rng.choice(JOINS), "join": rng.choice(KINDS)})
                case _:
                    steps.append({"kind": "reshaped", "sql": rng.choice(RESHAPED)})
        return {"steps": steps, "end": rng.choice(["", "", "", *ENDS])}

    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        forced: Settings = {}
        if rng.random() < 0.4:
            forced |= SPLIT_LAST_JOINS
        if rng.random() < 0.4:
            forced |= rng.choice([SPLIT_WINDOWS, SAMPLED_WINDOWS])
        if rng.random() < 0.5:
            forced["spark.joinery.runtimeFilter.applicationSideMinSize"] = "0"
        if rng.random() < 0.6:
            forced["spark.sql.autoBroadcastJoinThreshold"] = "-1"
        if rng.random() < 0.2:
            forced["spark.joinery.rangeJoin.maxBroadcast"] = "1"
        if rng.random() < 0.2:
            forced["spark.joinery.lastJoin.maxHashPartition"] = rng.choice(["-1", "1b"])
        if rng.random() < 0.1:
            forced["spark.sql.requireAllClusterKeysForDistribution"] = "true"
        if rng.random() < 0.1:
            forced["spark.sql.requireAllClusterKeysForCoPartition"] = "false"
        if rng.random() < 0.1:
            forced["spark.sql.adaptive.forceOptimizeSkewedJoin"] = "true"
        hints = [rng.choice(HINTS[step["kind"]]) for step in query["steps"]]
        return {"hints": hints, "twice": rng.random() < 0.15, "settings": draw_physical(rng, forced)}

    def sql(self, case: Case) -> str:
        hints = [*case["variant"].get("hints", []), "", "", "", ""]
        return self._sql(case, [f"/*+ {hint} */ " if hint else "" for hint in hints], stock=False)

    def oracle_sql(self, case: Case) -> str:
        return self._sql(case, [""] * 4, stock=True)

    def _sql(self, case: Case, hints: list[str], stock: bool) -> str:
        parts = [f"s0 AS (SELECT {ROWS} FROM l)"]
        for i, step in enumerate(case["query"]["steps"]):
            parts.append(f"s{i + 1} AS ({self._step(step, f's{i}', hints[i], i, stock)})")
        end = case["query"].get("end") or ""
        last = end.partition(": ")[2].format(x=f"s{len(parts) - 1}") or f"SELECT id, k, o, v FROM s{len(parts) - 1}"
        if end in LIMITS:
            return f"WITH {', '.join(parts)} {last}{'' if stock else f' {end}'}"
        if case["variant"].get("twice") and not stock:
            last = f"{last} UNION ALL {last}"
        return f"WITH {', '.join(parts)} {last}"

    def _step(self, step: dict[str, Any], x: str, hint: str, i: int, stock: bool) -> str:
        match step["kind"]:
            case "last":
                other = step.get("other")
                y = f"(SELECT {ROWS} FROM r)" if other is None or other >= i else f"s{other}"
                columns = "x.id, x.k, x.o, coalesce(y.v + 1, x.v) % 1000 AS v"
                if not stock:
                    order = ", ".join(f"{term} {way}" for term, way in step["order"])
                    return f"SELECT {hint}{columns} FROM {x} x LAST JOIN {y} y ORDER BY {order} ON {step['on']}"
                order = ", ".join(f"{term} {REVERSE[way]}" for term, way in step["order"])
                place = f"row_number() OVER (PARTITION BY x.id ORDER BY {order}) AS place"
                joined = f"SELECT {columns}, {place} FROM {x} x LEFT JOIN {y} y ON {step['on']}"
                return f"SELECT id, k, o, v FROM ({joined}) WHERE place = 1"
            case "window":
                return f"SELECT {hint}id, k, o, coalesce({step['call']}, -1) % 1000 AS v FROM {x}"
            case "join":
                join, y = step["join"], f"(SELECT {ROWS} FROM r WHERE id < 12)"
                if "SEMI" in join or "ANTI" in join:
                    return f"SELECT {hint}x.id, x.k, x.o, x.v FROM {x} x {join} {y} y ON {step['on']}"
                columns = "coalesce(x.id, -1) * 1000 + coalesce(y.id, 999) AS id, x.k, x.o, coalesce(x.v, 1) + "
                return f"SELECT {hint}{columns}coalesce(y.v, 2) AS v FROM {x} x {join} {y} y ON {step['on']}"
        return str(step["sql"]).format(x=x)

    def difference(self, right: Answer, found: Answer, case: Case) -> str | None:
        if limit := LIMITS.get(case["query"].get("end") or ""):
            return limited_rows(right, found, limit)
        if case["variant"].get("twice"):
            assert right.rows is not None
            right = Answer(rows=pa.concat_tables([right.rows, right.rows]))
        return other_rows(right, found)


def laid(spark: SparkSession, name: str, stored: str, how: str) -> DataFrame:
    """A view's rows as they lie in memory or in buckets.

    Args:
        spark: A classic session.
        name: Of the view.
        stored: A name for the rows in buckets.
        how: One of `CACHED`, or `BUCKETED`.
    """
    if how != BUCKETED:
        return spark.sql(how.format(t=name)).cache()
    spark.table(name).write.bucketBy(3, "k").sortBy("o").mode("overwrite").saveAsTable(stored)
    return spark.table(stored)


def limited_rows(right: Answer, found: Answer, limit: int) -> str | None:
    """How an answer differs from so many of the right rows."""
    assert right.rows is not None
    assert found.rows is not None
    if found.rows.num_rows != min(limit, right.rows.num_rows):
        return f"{found.rows.num_rows} rows of {right.rows.num_rows}, with LIMIT {limit}"
    others = Counter(row_texts(found.rows)) - Counter(row_texts(right.rows))
    return f"rows that stock has not, such as {list(others)[:2]}" if others else None
