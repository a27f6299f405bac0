"""Windows, against the same query with Joinery's operator switched off."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from fuzz.capability import Capability, Case
from fuzz.cases.window_functions import draw_cuttable, draw_function, frames_of
from fuzz.cases.window_rounding import Rounding
from fuzz.data import Table, column
from fuzz.running import Answer, plain
from fuzz.settings import SPLIT_WINDOWS, Settings, draw_physical

ORDER_TYPES = ["int", "bigint", "smallint", "tinyint", "double", "float", "decimal(10,2)", "date", "timestamp"]
ORDER_TYPES += ["timestamp_ntz", "string"]
ORDERS = {f"o_{kind.split('(')[0]}": kind for kind in ORDER_TYPES}
VALUES = {
    "x_int": "int",
    "x_small": "smallint",
    "x_bigint": "bigint",
    "x_double": "double",
    "y_double": "double",
    "x_float": "float",
    "x_dec": "decimal(10,2)",
    "x_dec38": "decimal(38,4)",
    "x_date": "date",
    "x_string": "string",
    "x_bool": "boolean",
}
POOLS = ["dense", "dense", "few", "many", "wide", "ends", "mixed", "late ends", "one infinity"]
INPUTS = {
    "scan": "t",
    "join": "(SELECT t.* FROM t JOIN (SELECT DISTINCT k AS other FROM t) d ON t.k <=> d.other)",
    "union": "(SELECT * FROM t WHERE id % 2 = 0 UNION ALL SELECT * FROM t WHERE id % 2 <> 0)",
    "filtered": "(SELECT * FROM t WHERE v <> 2)",
}


class SlidingWindow(Capability):
    name = "window"
    asks_the_same = True
    sizes: Sequence[int] = (0, 1, 20, 100, 100, 300, 300, 1000, 1000, 3000)
    orders: Sequence[str] = tuple(ORDERS)
    order_pools: Sequence[str] = ("dense", "many", "many", "wide", "ends", "changes", "mixed")
    pools: Sequence[str] = POOLS
    total = 0.55
    limit = 0.1
    distribution = 0.08
    bounded = 0.4  # share of queries in which no function keeps hot keys whole
    cut = 0.7
    most_functions = 5
    parts: Sequence[int] = (*[0, 2, 3, 8] * 4, 64)

    def draw_tables(self, rng: random.Random) -> dict[str, Table]:
        rows = rng.choice(self.sizes)
        keys = rng.choice(["few", "hot", "hot", "one", "many"]) if rows < 3000 else rng.choice(["hot", "one"])
        order = rng.choice(self.order_pools)
        columns = {
            "id": column("int", "sequence"),
            "k": column("int", keys, rng.choice([0.0, 0.05])),
            "s": column("string", "few", 0.05),
            "v": column("int", "few"),
            **{name: column(kind, order, rng.choice([0.0, 0.1])) for name, kind in ORDERS.items()},
            **{name: column(kind, self._pool(rng, kind), rng.choice([0.0, 0.1])) for name, kind in VALUES.items()},
        }
        if rng.random() < 0.4:
            columns["p"] = column("string", "padding")
        table = {"seed": rng.getrandbits(32), "rows": rows, "files": rng.choice([1, 2, 4]), "columns": columns}
        if rng.random() < self.distribution:
            # for the key and the order that half of the queries have
            table["distribution"] = {"keys": ["k"], "order": rng.choice(self.orders), "rows": rng.choice([2, 10])}
        return {"t": table}

    def draw_query(self, rng: random.Random, tables: dict[str, Table]) -> dict[str, Any]:
        rows = tables["t"]["rows"]
        name = rng.choice(self.orders)
        known = tables["t"].get("distribution")
        if known and rng.random() < 0.7:
            name = known["order"]
        ways = ["ASC", "ASC", "DESC", "ASC NULLS LAST", "DESC NULLS FIRST"]
        order = [[name, rng.choice(ways)]]
        total = rng.random() < self.total
        if total:
            order += [["s", rng.choice(ways)]] if rng.random() < 0.15 else []
            order.append(["id", rng.choice(ways)])
        frames, most = frames_of(rng, ORDERS[name], total, rows), self.most_functions
        if total and name == "o_int" and rng.random() < 0.5:
            # one order column without ties allows both kinds of frames
            order = [["id", rng.choice(ways)]]
            frames += frames_of(rng, "int", False, rows)
        draw = draw_function
        if rng.random() < self.bounded:
            frames = [frame for frame in frames if "UNBOUNDED" not in frame] or [
                "ROWS 2 PRECEDING" if total else "RANGE BETWEEN CURRENT ROW AND CURRENT ROW"
            ]
            draw = draw_cuttable
        query: dict[str, Any] = {
            "partition": known["keys"] if known else rng.choice([["k"], ["k"], ["k"], ["k", "s"], []]),
            "order": order,
            "functions": [draw(rng, rng.choice(frames), total) for _ in range(rng.randint(1, most))],
            "padding": "p" in tables["t"]["columns"],
            "input": rng.choice(["scan"] * 4 + list(INPUTS)),
        }
        if rng.random() < self.limit:
            query["limit"] = rng.choice([1, 5, 20])
            query["partition"] = []
        return query

    def draw_variant(self, rng: random.Random, query: dict[str, Any]) -> dict[str, Any]:
        forced: Settings = dict(SPLIT_WINDOWS) if rng.random() < self.cut else {}
        if rng.random() < 0.3:
            forced["spark.sql.windowExec.buffer.in.memory.threshold"] = rng.choice(["1", "2", "100"])
            # Spark's operator reads all its spill files at once, each through megabytes of buffers
            few_files = max(self.sizes) // 40
            forced["spark.sql.windowExec.buffer.spill.threshold"] = str(rng.choice([few_files, 1000]))
        parts = rng.choice(self.parts)
        twice = rng.random() < 0.1 and not query.get("limit")
        return {"parts": parts, "twice": twice, "settings": draw_physical(rng, forced)}

    def select(self, case: Case, hint: str, more: list[str]) -> str:
        query = case["query"]
        terms = ", ".join(f"{term} {way}" for term, way in query["order"])
        keys = f"PARTITION BY {', '.join(query['partition'])} " if query["partition"] else ""
        windows, columns = [], []
        for i, function in enumerate(query["functions"]):
            frame = function.get("frame", "")
            windows.append(f"w{i} AS ({keys}ORDER BY {terms} {frame})")
            columns.append(f"{function['call']} OVER w{i} AS f{i}")
        columns += [text.format(keys=keys, terms=terms) for text in more]
        columns += ["p"] if query.get("padding") else []
        limit = f" LIMIT {query['limit']}" if query.get("limit") else ""
        given = INPUTS[query.get("input", "scan")]
        named = f" WINDOW {', '.join(windows)}" if windows else ""
        return f"SELECT {hint}{', '.join(['id', *columns])} FROM {given}{named}{limit}"

    def sql(self, case: Case) -> str:
        parts = case["variant"].get("parts")
        sql = self.select(case, f"/*+ SKEW_WINDOW({parts}) */ " if parts else "", [])
        return f"SELECT * FROM ({sql}) UNION ALL SELECT * FROM ({sql})" if case["variant"].get("twice") else sql

    def oracle_sql(self, case: Case) -> str:
        return self.select(
            case,
            "",
            [text for i, function in enumerate(case["query"]["functions"]) for text in Rounding(function, i).needs],
        )

    def difference(self, right: Answer, found: Answer, case: Case) -> str | None:
        assert right.rows is not None
        assert found.rows is not None
        if right.rows.num_rows * (2 if case["variant"].get("twice") else 1) != found.rows.num_rows:
            return f"{found.rows.num_rows} rows instead of {right.rows.num_rows}"
        expected = {name: plain(right.rows[name]) for name in right.rows.column_names}
        places = {key: at for at, key in enumerate(expected["id"])}
        ids = plain(found.rows["id"])
        if not case["query"].get("limit") and set(ids) != set(places):
            return "other rows"
        for i, function in enumerate(case["query"]["functions"]):
            rounding = Rounding(function, i)
            bounds = [expected[name] for name in rounding.names]
            values = plain(found.rows[f"f{i}"])
            for at, (key, value) in enumerate(zip(ids, values, strict=True)):
                place = places.get(key)
                if place is None:
                    continue  # with LIMIT, any rows are right
                wanted = expected[f"f{i}"][place]
                if not rounding.agree(value, wanted, [bound[place] for bound in bounds]):
                    wrong = f"{function['call']} {function.get('frame', '')}"
                    return f"{wrong} of id {key} (row {at}): {value!r} instead of {wanted!r}"
        return None

    def _pool(self, rng: random.Random, kind: str) -> str:
        pool = rng.choice(self.pools)
        return "late ends" if pool == "one infinity" and kind not in ("double", "float") else pool


class ScarceWindow(SlidingWindow):
    """Long frames of wide rows, and little memory."""

    name = "window_scarce"
    scarce = True
    sizes = (100, 3000, 9000, 20000)
    order_pools = ("dense", "many", "many")
    total = 0.8
    bounded = 0.7


class RangeWindow(SlidingWindow):
    """Bounds of RANGE at the ends of their types, and across changes of clocks."""

    name = "window_range"
    sizes = (20, 100, 300)
    orders = tuple(name for name in ORDERS if name != "o_string")
    order_pools = ("wide", "ends", "changes", "mixed")
    total = 0.0


class LateWindow(SlidingWindow):
    """Partitions of many batches, with both growing and moving frames, and sums that overflow late."""

    name = "window_late"
    sizes = (3000, 9000, 9000, 15000)
    order_pools = ("many",)
    pools = ("late ends", "late ends", "wide", "one infinity", "dense")
    total = 1.0
    limit = 0.2


class StoredCutWindow(SlidingWindow):
    """Windows cut at the boundaries of a stored distribution."""

    name = "window_stored_cuts"
    sizes = (100, 300, 1000, 3000)
    orders = ("o_int", "o_bigint", "o_date", "o_timestamp", "o_decimal")
    order_pools = ("dense", "many", "many", "ends", "changes")
    distribution = 0.9
    cut = 0.9
    most_functions = 2  # each function may be a reason not to cut
    total = 0.9
    bounded = 0.8
    parts = (0, 2, 3, 8)
