"""Queries of several steps. Each step relies on how its input says that rows are distributed and sorted."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from fuzz.capability import Capability, Case
from fuzz.cases.composed_steps import (
    BUCKETED,
    CACHED,
    ENDS,
    HINTS,
    JOINS,
    KEYS,
    KINDS,
    LAST_JOINS,
    LIMITS,
    ORDERS,
    PARTITIONS,
    RARELY_SET,
    RESHAPED,
    WINDOWS,
    offset,
    with_offsets,
)
from fuzz.cases.last_join_terms import REVERSE
from fuzz.data import Table, column, register
from fuzz.running import Answer, other_rows, row_texts
from fuzz.settings import SPLIT_LAST_JOINS, SPLIT_WINDOWS, Settings, draw_physical


class Composed(Capability):
    name = "composed"
    queries = 8

    def __init__(self) -> None:
        self.lying: dict[str, Path] = {}  # by name, the files of tables that are cached or in buckets

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
        order = rng.choice(ORDERS)
        for i in range(rng.choice([2, 2, 3, 3, 4])):
            other = rng.choice([None, None, *range(i)])
            match rng.choice(["last", "last", "window", "join", "reshaped"]):
                case "last":
                    on = with_offsets(rng.choice(LAST_JOINS), order)
                    by = [["y.o", rng.choice(list(REVERSE))], ["y.id", "ASC"]]
                    steps.append({"kind": "last", "on": on, "order": by, "other": other})
                case "window":
                    n = rng.choice([0, 1, 3, 20])
                    by_keys = rng.choice(PARTITIONS)
                    call = rng.choice(WINDOWS).format(by=by_keys, n=n, offset=offset(order, n))
                    steps.append({"kind": "window", "call": call})
                case "join" if sum(step["kind"] == "join" for step in steps) < 2:
                    on = with_offsets(rng.choice(JOINS), order)
                    steps.append({"kind": "join", "on": on, "join": rng.choice(KINDS), "other": other})
                case _:
                    steps.append({"kind": "reshaped", "sql": rng.choice(RESHAPED)})
        return {"steps": steps, "end": rng.choice(["", "", "", *ENDS]), "k": rng.choice(KEYS), "o": order}

    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        forced: Settings = {}
        if rng.random() < 0.4:
            forced |= SPLIT_LAST_JOINS
        if rng.random() < 0.4:
            forced |= SPLIT_WINDOWS
        if rng.random() < 0.5:
            forced["spark.joinery.runtimeFilter.applicationSideMinSize"] = "0"
        if rng.random() < 0.6:
            forced["spark.sql.autoBroadcastJoinThreshold"] = "-1"
        if rng.random() < 0.2:
            forced["spark.joinery.rangeJoin.maxBroadcast"] = "1"
        if rng.random() < 0.2:
            forced["spark.joinery.lastJoin.maxHashPartition"] = rng.choice(["-1", "1b"])
        forced |= {name: value for name, (share, value) in RARELY_SET.items() if rng.random() < share}
        hints = [rng.choice(HINTS[step["kind"]]) for step in query["steps"]]
        return {"hints": hints, "twice": rng.random() < 0.15, "settings": draw_physical(rng, forced)}

    def sql(self, case: Case) -> str:
        return self._sql(case, self._hints(case), stock=False)

    def oracle_sql(self, case: Case) -> str:
        return self._sql(case, [""] * 4, stock=True)

    def hinted_sql(self, case: Case) -> str | None:
        kinds = [*(step["kind"] for step in case["query"]["steps"]), *[""] * 4]
        of_joins = [hint if kind == "join" else "" for kind, hint in zip(kinds, self._hints(case), strict=False)]
        return self._sql(case, of_joins, stock=True) if any(of_joins) else None

    def _hints(self, case: Case) -> list[str]:
        hints = [*case["variant"].get("hints", []), "", "", "", ""]
        return [f"/*+ {hint} */ " if hint else "" for hint in hints]

    def _sql(self, case: Case, hints: list[str], stock: bool) -> str:
        parts = [f"s0 AS ({self._rows(case, 'l')})"]
        for i, step in enumerate(case["query"]["steps"]):
            parts.append(f"s{i + 1} AS ({self._step(case, step, f's{i}', hints[i], i, stock)})")
        end = case["query"].get("end") or ""
        last = end.partition(": ")[2].format(x=f"s{len(parts) - 1}") or f"SELECT id, k, o, v FROM s{len(parts) - 1}"
        if end in LIMITS:
            return f"WITH {', '.join(parts)} {last}{'' if stock else f' {end}'}"
        if case["variant"].get("twice") and not stock:
            last = f"{last} UNION ALL {last}"
        return f"WITH {', '.join(parts)} {last}"

    def _rows(self, case: Case, table: str) -> str:
        k, o = case["query"].get("k", "k"), case["query"].get("o", "o")
        return f"SELECT CAST(id AS BIGINT) AS id, {k} AS k, {o} AS o, v FROM {table}"

    def _step(self, case: Case, step: dict[str, Any], x: str, hint: str, i: int, stock: bool) -> str:
        r = f"({self._rows(case, 'r')})"
        other = step.get("other")
        y = r if other is None or other >= i else f"s{other}"
        match step["kind"]:
            case "last":
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
                join, few = step["join"], f"(SELECT * FROM {y} WHERE id BETWEEN 0 AND 11)"
                if "SEMI" in join or "ANTI" in join:
                    return f"SELECT {hint}x.id, x.k, x.o, x.v FROM {x} x {join} {few} y ON {step['on']}"
                columns = "coalesce(x.id, -1) * 1000 + coalesce(y.id, 999) AS id, x.k, x.o, coalesce(x.v, 1) + "
                return f"SELECT {hint}{columns}coalesce(y.v, 2) AS v FROM {x} x {join} {few} y ON {step['on']}"
        return str(step["sql"]).format(x=x, r=r)

    def difference(self, right: Answer, found: Answer, case: Case) -> str | None:
        if limit := LIMITS.get(case["query"].get("end") or ""):
            return limited_rows(right, found, limit)
        if case["variant"].get("twice"):
            assert right.rows is not None
            right = Answer(rows=pa.concat_tables([right.rows, right.rows]))
        return other_rows(right, found)


def laid(spark: SparkSession, name: str, stored: str, how: str) -> DataFrame:
    """A view's rows, cached in memory or written to buckets.

    Args:
        spark: A classic session.
        name: The name of the view.
        stored: The name of the table for rows in buckets.
        how: One of `CACHED`, or `BUCKETED`.
    """
    if how != BUCKETED:
        return spark.sql(how.format(t=name)).cache()
    spark.table(name).write.bucketBy(3, "k").sortBy("o").mode("overwrite").saveAsTable(stored)
    return spark.table(stored)


def limited_rows(right: Answer, found: Answer, limit: int) -> str | None:
    """How an answer differs from `limit` of the right rows; None if it does not."""
    assert right.rows is not None
    assert found.rows is not None
    if found.rows.num_rows != min(limit, right.rows.num_rows):
        return f"{found.rows.num_rows} rows of {right.rows.num_rows}, with LIMIT {limit}"
    others = Counter(row_texts(found.rows)) - Counter(row_texts(right.rows))
    return f"rows that stock has not, such as {list(others)[:2]}" if others else None
