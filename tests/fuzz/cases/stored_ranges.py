"""Range joins with a table whose range index the job built. The table may have changed since."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from spark_joinery.metadata import RangeIndexSpec

from fuzz.capability import Case
from fuzz.cases.range_join import TYPES, RangeJoin
from fuzz.cases.stored_sources import SETTINGS_OF_READING, Build, FormatRefusedError, jvm_zone, name_of
from fuzz.data import Table, register
from fuzz.settings import ZONES, Settings

# Hints that usually make the side with the stored index the indexed one.
INDEXED = [["BROADCAST(r)"], ["BROADCAST(r)"], ["BROADCAST(r)", "RANGE_JOIN(r)"]]


class StoredRanges(RangeJoin):
    name = "stored_ranges"
    queries = 10
    runs = 3
    sizes: Sequence[int] = (1, 5, 40, 100, 400)

    def draw_tables(self, rng: random.Random) -> dict[str, Table]:
        tables = super().draw_tables(rng)
        tables["r"]["build"] = self._draw_build(rng, list(tables["r"]["columns"]))
        return tables

    def _draw_build(self, rng: random.Random, columns: list[str]) -> dict[str, Any]:
        """Draw how the table's files are written, and how its index is built."""
        kind = rng.choice(list(TYPES))
        index = {"point": f"x_{kind}"} if rng.random() < 0.3 else {"start": f"s_{kind}", "end": f"e_{kind}"}
        held = [name for name in columns if name not in index.values() and rng.random() < 0.95]
        build: dict[str, Any] = {
            "format": rng.choice(["parquet", "parquet", "foreign", "orc"]),
            "type": kind,
            "index": {**index, "columns": held},
            "session": self._draw_reading(rng),
        }
        if rng.random() < 0.15:
            build["zone"] = rng.choice(ZONES[1:3] + ZONES[4:7])
        if rng.random() < 0.4:
            build |= {
                "appended": rng.choice(["refreshed", "stale", "stale"]),
                "appended one in": rng.choice([1, 10, 20]),
            }
        if rng.random() < 0.1:
            build["lost"] = True
        return build

    def _draw_reading(self, rng: random.Random) -> Settings:
        """Draw a few settings that change the rows read."""
        drawn = {"spark.sql.session.timeZone": rng.choice(ZONES)}
        return drawn | rng.choice(SETTINGS_OF_READING) if rng.random() < 0.15 else drawn

    def draw_type(self, rng: random.Random, tables: dict[str, Table]) -> str:
        return tables["r"]["build"]["type"] if rng.random() < 0.85 else super().draw_type(rng, tables)

    def draw_query(self, rng: random.Random, tables: dict[str, Table]) -> dict[str, Any]:
        built_in = tables["r"]["build"]["session"]
        query = super().draw_query(rng, tables)
        query["session"] = self._draw_reading(rng) if rng.random() < 0.2 else dict(built_in)
        if query["join"] in ("JOIN", "LEFT JOIN") and "grouped" not in query and rng.random() < 0.3:
            query["beside"] = {**super().draw_query(rng, tables), "join": "JOIN", "grouped": False}
        if rng.random() < 0.1:
            query["zone"] = rng.choice(ZONES[1:3] + ZONES[4:7])
        return query

    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        variant = super().draw_variant(rng, query)
        return {**variant, "hints": rng.choice(INDEXED)} if rng.random() < 0.7 else variant

    def prepare(self, spark: SparkSession, folder: Path, case: Case) -> None:
        register(spark, folder, "l", case["tables"]["l"])
        right = case["tables"]["r"]
        self.build = Build(spark, folder, right, RangeIndexSpec(**right["build"]["index"]))
        self.build.make()

    def expects(self, error: Exception, case: Case) -> bool:
        return isinstance(error, FormatRefusedError)

    @contextlib.contextmanager
    def around(self, spark: SparkSession, case: Case) -> Iterator[None]:
        with jvm_zone(spark, case["query"].get("zone")):
            yield

    def meaning(self, case: Case) -> Settings:
        return dict(case["query"].get("session", {}))

    def only_tested(self, case: Case) -> Settings:
        return {"spark.joinery.store": str(self.build.store), "spark.joinery.store.timeout": "60s"}

    def _sql(self, case: Case, hints: list[str]) -> str:
        """The join, perhaps in a union with another join that reads other columns of the same table."""
        sql = super()._sql(case, hints)
        beside = case["query"].get("beside")
        if not beside:
            return sql
        other = super()._sql({**case, "query": beside}, hints).replace("l.s, r.v FROM", "r.s, r.k FROM")
        return f"{sql} UNION ALL {other}"

    def right(self, case: Case) -> str:
        return name_of(case["tables"]["r"])
