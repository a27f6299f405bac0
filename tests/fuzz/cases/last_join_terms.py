"""Keys, orders, comparisons and conditions that a LAST JOIN may have."""

from __future__ import annotations

import random

ORDER_TYPES = ["int", "bigint", "smallint", "double", "decimal(10,2)", "decimal(38,4)", "date", "timestamp"]
ORDER_TYPES += ["timestamp_ntz", "string"]
NAMES = {kind: "o_" + kind.split("(")[0] + ("38" if "38" in kind else "") for kind in ORDER_TYPES}
DIRECTIONS = ["ASC", "ASC", "ASC NULLS LAST", "DESC", "DESC NULLS FIRST"]
REVERSE = {
    "ASC": "DESC NULLS LAST",
    "ASC NULLS LAST": "DESC NULLS FIRST",
    "DESC": "ASC NULLS FIRST",
    "DESC NULLS FIRST": "ASC NULLS LAST",
}
KEYS = [
    ["l.k = r.k"],
    ["l.k = r.k"],
    ["l.k = r.k"],
    ["l.s = r.s"],
    ["l.k = r.k", "r.s = l.s"],
    ["l.k <=> r.k"],
    ["l.k = r.k", "l.s <=> r.s"],
    ["l.k % 3 = abs(r.k)"],
    ["CAST(l.k AS BIGINT) = r.v"],
    ["zip_with(array(l.k), array(0), (a, b) -> a + b)[0] = r.k"],  # Spark generates no code for it
    [],
]
RESIDUALS = [
    "size(map_filter(map(coalesce(l.v, 0), r.v), (a, b) -> a <> b)) > 0",  # nor for this
    "l.v > 0 AND r.v > 0",
    "(l.v + r.v) % 3 = 0",
    "(l.v * 7 + r.v * 5 + r.id) % 19 = 0",
    "r.s > l.s",
    "r.v = 3",
    "r.v IN (SELECT z.v FROM r z WHERE z.id < 9)",
    "(l.v IN (SELECT z.v FROM l z WHERE z.k = l.k AND z.id < 30) OR r.v > 3)",
    "NOT EXISTS (SELECT 1 FROM l z WHERE z.v = r.v AND z.id < 9)",
]
# Comparisons of the ORDER BY term {r} with the left time {l}, by type; the direction of time is drawn.
TOLERANCES: dict[str, list[str]] = {
    "number": ["{r} >= {l} - {x}", "{l} - {r} <= {x}", "{r} + {x} >= {l}", "-{r} <= {x} - {l}", "{r} < {l} + {x}"],
    "date": [
        "{r} >= date_sub({l}, {n})",
        "date_add({r}, {n}) >= {l}",
        "date_sub({r}, -{n}) >= {l}",
        "date_sub({r}, {n}) <= {l}",
        "date_add({r}, -{n}) <= {l}",
        "datediff({l}, {r}) <= {n}",
        "{l} - {r} <= INTERVAL '{n}' DAY",
        "{r} >= {l} - INTERVAL '{n}' DAY",
        "{r} + INTERVAL '{n}' DAY >= {l}",
        "{r} >= {l} - INTERVAL '{n}' MONTH",
        "{r} >= add_months({l}, -{n})",
    ],
    "time": [
        "{r} >= {l} - INTERVAL '{n}' SECOND",
        "{r} >= {l} - INTERVAL '{n}' HOUR",
        "{r} >= {l} - INTERVAL '{n}' DAY",
        "{r} + INTERVAL '{n}' DAY >= {l}",
        "{r} - INTERVAL '{n}' HOUR <= {l}",
        "{l} - {r} <= INTERVAL '{n}' HOUR",
        "{l} - {r} <= INTERVAL '{n}' DAY",
        "{r} >= {l} - INTERVAL '{n}' MONTH",
        "{r} >= {l} + INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND",
        "CAST({r} AS DATE) >= CAST({l} AS DATE)",
        "CAST({r} AS DATE) >= date_sub(CAST({l} AS DATE), {n})",
    ],
}
FAMILIES = {"date": "date", "timestamp": "time", "timestamp_ntz": "time"}
# Left times that an as-of comparison computes. The computation fails for some rows.
BOUNDS: dict[str, list[str]] = {
    "number": ["{l} + {x}", "{l} - {x}", "-{l}"],
    "date": ["date_add({l}, {n})", "date_sub({l}, {n})", "add_months({l}, {n})", "{l} - INTERVAL '{n}' DAY"],
    "time": ["{l} + INTERVAL '{n}' HOUR", "{l} - INTERVAL '{n}' DAY", "{l} + INTERVAL '{n}' MONTH"],
}
# Conditions that a left join may test before it computes such a time; {l} is the left time.
EARLIER = ["{l} BETWEEN {least} AND {small}"] * 4 + ["l.id < 0", "l.id < r.id - 1000", "l.v > 2", "l.s > r.s"]
SMALL = {
    "number": {"least": "-1000", "small": "1000"},
    "date": {"least": "DATE'1900-01-01'", "small": "DATE'2030-01-01'"},
    "time": {"least": "TIMESTAMP'1900-01-01'", "small": "TIMESTAMP'2030-01-01'"},
}
FLIPPED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}


def offset(rng: random.Random, kind: str) -> str:
    """An amount to add to a time of a type."""
    if kind == "double":
        return rng.choice(["1.5D", "0D", "DOUBLE('Infinity')"])
    if kind.startswith("decimal"):
        return rng.choice(["1.09BD", "0BD"])
    return rng.choice(["0", "2", "3", "100"])
