"""Filters that the jobs built, with other settings than the query's, from sources that have changed since."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from spark_joinery.metadata import BloomFilterSpec

from fuzz.capability import Capability, Case
from fuzz.cases.store_damage import DAMAGES
from fuzz.cases.stored_sources import (
    SETTINGS_OF_READING,
    Build,
    FormatRefusedError,
    jvm_zone,
    meanings_of,
    name_of,
    readings_of,
    wheres,
)
from fuzz.data import Table, column, register
from fuzz.running import Answer, other_rows
from fuzz.settings import ZONES, Settings, draw_physical

KEYS = {
    "k_int": "int",
    "k_bigint": "bigint",
    "k_string": "string",
    "k_date": "date",
    "k_ts": "timestamp",
    "k_ntz": "timestamp_ntz",
    "k_dec": "decimal(10,2)",
    "k_double": "double",
}
FAR_ZONES = ["Pacific/Kiritimati", "Pacific/Pago_Pago"]
JOINS = ["JOIN", "JOIN", "JOIN", "LEFT SEMI JOIN", "RIGHT JOIN", "LEFT JOIN", "LEFT ANTI JOIN", "FULL JOIN"]


class StoredFilters(Capability):
    name = "stored_filters"
    runs = 3
    joins: Sequence[str] = JOINS
    formats: Sequence[str] = ("foreign", "foreign", "parquet", "orc", "orc", "csv", "json")
    keys: Sequence[str] = tuple(KEYS)
    where = 0.4
    zone = 0.3
    far = 0.3
    reading = 0.08
    other = 0.75
    appended = 0.15
    sizes: Sequence[int] = (1, 10, 100, 100, 1000)
    pools: Sequence[str] = ("dense", "many", "many", "changes", "changes", "mixed")

    def draw_tables(self, rng: random.Random) -> dict[str, Table]:
        rows = rng.choice(self.sizes)
        pool = rng.choice(self.pools)
        times = pool if pool != "mixed" else "changes"
        kinds = {
            name: column(kind, times if name in ("k_ts", "k_ntz") else pool, rng.choice([0.0, 0.1]))
            for name, kind in KEYS.items()
        }
        others = {
            "v": column("int", "few"),
            "s": column("string", "few"),
            "d": column("date", "today"),
            "t": column("timestamp", "changes"),
            "n": column("timestamp_ntz", "today"),
        }
        seed = rng.getrandbits(32)
        columns = {"id": column("int", "sequence"), **kinds, **others}
        dimension = {f"d_{name}": described for name, described in columns.items()}
        fact = {f"f_{name}": described for name, described in columns.items()}
        return {
            "fact": {"seed": seed + 1, "rows": rows * 3, "files": 2, "columns": fact},
            "dim": {"seed": seed, "rows": rows, "files": 3, "columns": dimension, "build": self.draw_build(rng)},
        }

    def draw_build(self, rng: random.Random) -> dict[str, Any]:
        """Draw how the dimension's files are written, and how its filter is built."""
        keys = [rng.choice(self.keys)] if rng.random() < 0.85 else rng.sample(list(KEYS), 2)
        build: dict[str, Any] = {
            "format": rng.choice(self.formats),
            "keys": [f"d_{key}" for key in keys],
            "session": self.draw_reading(rng),
        }
        if rng.random() < self.where:
            build["where"] = self.draw_where(rng)
            for settings in meanings_of(build["where"][0]):
                if rng.random() < 0.3:
                    build["session"] |= settings
        if rng.random() < self.zone:
            build["zone"] = rng.choice(ZONES[1:3] + ZONES[4:7])
        if rng.random() < self.appended:
            build["appended"] = rng.choice(["refreshed", "stale"])
        return build

    def draw_where(self, rng: random.Random) -> list[str]:
        """Draw one or two conditions, and a query's predicate that implies them."""
        known = wheres(rng.random() < 0.4)
        texts = [rng.choice(known) for _ in range(rng.choice([1, 2]))]
        return [" AND ".join(text) for text in zip(*texts, strict=True)]

    def draw_reading(self, rng: random.Random) -> Settings:
        """Draw settings that change the rows read."""
        drawn = {"spark.sql.session.timeZone": rng.choice(FAR_ZONES if rng.random() < self.far else ZONES)}
        for settings in SETTINGS_OF_READING:
            if rng.random() < self.reading:
                drawn |= settings
        return drawn

    def draw_other_reading(self, rng: random.Random, build: dict[str, Any]) -> Settings:
        """Draw settings that differ from the filter's, mostly in one way only, as each may make Joinery decline it."""
        drawn = self.draw_reading(rng)
        changed = rng.choice(["zone", "setting", "setting", "all"])
        if changed == "all":
            return drawn
        if changed == "zone":
            return {**build["session"], "spark.sql.session.timeZone": drawn["spark.sql.session.timeZone"]}
        telling = meanings_of(build["where"][0] if "where" in build else "") or readings_of(build)
        settings = rng.choice(telling or SETTINGS_OF_READING)
        others = {key: value for key, value in build["session"].items() if key not in settings}
        is_new = any(build["session"].get(key) != value for key, value in settings.items())
        return {**others, **settings} if is_new else others

    def draw_query(self, rng: random.Random, tables: dict[str, Table]) -> dict[str, Any]:
        build = tables["dim"]["build"]
        pairs = [f"f_{key[2:]} = {key}" for key in build["keys"]]
        predicates = []
        if "where" in build:
            predicates.append(build["where"][1])
        if rng.random() < 0.3:
            predicates.append(rng.choice(["d_v > 1", "f_v < 6", "f_s <> '3'", "d_id >= 0"]))
        if rng.random() < 0.1:
            pairs.append("f_v >= d_v")
        query: dict[str, Any] = {"join": rng.choice(self.joins), "on": pairs, "predicates": predicates, "session": {}}
        query["session"] = self.draw_other_reading(rng, build) if rng.random() < self.other else dict(build["session"])
        if rng.random() < self.zone:
            query["zone"] = rng.choice(ZONES[1:3] + ZONES[4:7])
        return query

    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        return {"settings": draw_physical(rng), "swap": rng.random() < 0.3}

    def prepare(self, spark: SparkSession, folder: Path, case: Case) -> None:
        register(spark, folder, "fact", case["tables"]["fact"])
        dimension = case["tables"]["dim"]
        where = dimension["build"]["where"][0] if "where" in dimension["build"] else None
        self.build = Build(spark, folder, dimension, BloomFilterSpec(keys=dimension["build"]["keys"], where=where))
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
        return {
            "spark.joinery.store": str(self.build.store),
            "spark.joinery.store.timeout": "60s",
            "spark.joinery.runtimeFilter.applicationSideMinSize": "0",
            "spark.joinery.runtimeFilter.build.enabled": "false",
            "spark.sql.autoBroadcastJoinThreshold": "-1",
        }

    def sql(self, case: Case) -> str:
        query = case["query"]
        dimension = name_of(case["tables"]["dim"])
        on = " AND ".join(query["on"]) or "true"
        filters = [text for text in query["predicates"] if "d_" not in text or "SEMI" not in query["join"]]
        inner = [text for text in query["predicates"] if text not in filters]
        if "ANTI" in query["join"]:
            filters, inner = (
                [text for text in filters if "d_" not in text],
                [t for t in query["predicates"] if "d_" in t],
            )
        side = f"(SELECT * FROM {dimension} WHERE {' AND '.join(inner)})" if inner else dimension
        where = f" WHERE {' AND '.join(filters)}" if filters else ""
        columns = "f_id" if "SEMI" in query["join"] or "ANTI" in query["join"] else "f_id, d_id"
        if case["variant"].get("swap") and query["join"] == "JOIN":
            return f"SELECT {columns} FROM {side} JOIN fact ON {on}{where}"
        return f"SELECT {columns} FROM fact {query['join']} {side} ON {on}{where}"

    def oracle_sql(self, case: Case) -> str:
        return self.sql({**case, "variant": {}})

    def difference(self, right: Answer, found: Answer, case: Case) -> str | None:
        return other_rows(right, found)


class StoredWhere(StoredFilters):
    """Filters of some rows, by conditions that may mean something else on another day or to another parser."""

    name = "stored_where"
    where = 1.0
    runs = 2
    reading = 0.15
    joins = ("JOIN", "JOIN", "LEFT SEMI JOIN")
    far = 0.8
    zone = 0.0
    formats = ("foreign", "parquet")
    keys = ("k_int", "k_string")


class StoredFormats(StoredFilters):
    """Times and dates of foreign files, read under other settings and in other time zones."""

    name = "stored_formats"
    where = 0.0
    joins = ("JOIN", "JOIN", "LEFT SEMI JOIN")
    zone = 0.6
    far = 0.1
    reading = 0.2
    runs = 2
    formats = ("foreign", "foreign", "foreign", "orc", "orc", "csv", "json")
    keys = ("k_ts", "k_ts", "k_date", "k_date", "k_ntz")
    pools = ("many", "changes", "changes", "changes", "mixed")


class StoredDamage(StoredFilters):
    """Stores that lost data, or were changed by another program. Other reasons to decline a filter are rare."""

    name = "stored_damage"
    where = 0.1
    other = 0.1
    appended = 0.0
    sizes = (10, 100, 100, 1000)
    joins = ("JOIN", "JOIN", "LEFT SEMI JOIN")
    queries = 4
    zone = 0.0
    far = 0.0
    reading = 0.0
    formats = ("foreign", "parquet")

    def draw_build(self, rng: random.Random) -> dict[str, Any]:
        return {**super().draw_build(rng), "damage": rng.choice(list(DAMAGES))}


class StoredRefresh(StoredFilters):
    """Refreshes that cannot read a file, with settings that ignore this."""

    name = "stored_refresh"
    where = 0.1
    joins = ("JOIN", "JOIN", "LEFT SEMI JOIN")
    queries = 4
    zone = 0.0
    far = 0.0
    reading = 0.02
    formats = ("foreign", "parquet", "orc", "csv", "json")

    def draw_build(self, rng: random.Random) -> dict[str, Any]:
        build = super().draw_build(rng)
        build["unreadable"] = rng.choice(["garbled", "missing"])
        ignored = "Corrupt" if build["unreadable"] == "garbled" else "Missing"
        return {**build, "session": {**build["session"], f"spark.sql.files.ignore{ignored}Files": "true"}}
