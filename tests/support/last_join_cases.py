"""LAST JOIN in all its dimensions: the parts of a query, the data, and stock SQL for every answer."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The operator that each hint for the right side requires. Without a hint, the sides are small enough to broadcast.
OPERATORS = {
    "BROADCAST": "BroadcastLastJoin",
    "SHUFFLE_HASH": "ShuffledHashLastJoin",
    "MERGE": "SortMergeLastJoin",
    "no hint": "BroadcastLastJoin",
}
# Without a key, all rows form one group, or the part of time is the key, so each hint keeps its operator.
OPERATORS_WITHOUT_KEY = OPERATORS

# Values of the order column, as text, and a tolerance. They are few, so that matches and ties are frequent. Some sort
# oddly, and some are the largest whose differences still fit the type.
ORDER_TYPES: dict[str, tuple[Sequence[str], str]] = {
    "int": (["-1073741824", "-1", "0", "1", "3", "1073741823"], "2"),
    "bigint": (["-4611686018427387904", "-1", "0", "1", "3", "4611686018427387903"], "2"),
    "double": (["-Infinity", "-0.0", "0.0", "1.5", "2.0", "Infinity", "NaN"], "1.5D"),
    "decimal(10,2)": (["-49999999.99", "-0.01", "0.00", "0.01", "1.10", "49999999.99"], "1.09BD"),
    "decimal(38,4)": (["-4" + "9" * 33 + ".9999", "0.0000", "0.0001", "1.0", "4" + "9" * 33 + ".9999"], "1.0BD"),
    "date": (["0001-01-03", "1969-12-31", "2024-02-28", "2024-02-29", "2024-03-02"], "INTERVAL '2' DAY"),
    "timestamp": (
        ["1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "1970-01-01 00:00:01", "2024-02-29 12:00:00"],
        "INTERVAL '1' SECOND",
    ),
    "timestamp_ntz": (
        ["1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "1970-01-01 00:00:01", "2024-02-29 12:00:00"],
        "INTERVAL '1' SECOND",
    ),
    "string": (["", "a", "aa", "B", "ä", "😀"], ""),
}
# each ORDER BY, with its reverse, which puts the last row first for the oracle
DIRECTIONS = {
    "ASC": "DESC NULLS LAST",
    "ASC NULLS LAST": "DESC NULLS FIRST",
    "DESC": "ASC NULLS FIRST",
    "DESC NULLS FIRST": "ASC NULLS LAST",
    "any": "",  # no ORDER BY
}
COMPARISONS = {
    "as of": {"ASC": "r.o <= l.o", "DESC": "r.o >= l.o"},
    "strictly": {"ASC": "l.o > r.o", "DESC": "r.o > l.o"},
    "no inequality": {"ASC": "true", "DESC": "true"},
}
TOLERANCES = {
    "no tolerance": {"ASC": "true", "DESC": "true"},
    "from the right": {"ASC": "r.o >= l.o - {x}", "DESC": "r.o <= l.o + {x}"},
    "difference": {"ASC": "l.o - r.o <= {x}", "DESC": "r.o - l.o <= {x}"},
}
RESIDUALS = {
    "no residual": "true",
    "sides": "l.v > 0 AND r.v > 0",
    "selective": "(l.v + r.v) % 3 = 0",
    "rarely true": "(l.v * 7 + r.v * 5 + r.id) % 19 = 0",
}
KEYS = {
    "int": "l.k = r.k",
    "string": "l.s = r.s",
    "two columns": "l.k = r.k AND r.s = l.s",
    "null-safe": "l.k <=> r.k",
    "expression": "l.k % 3 = abs(r.k)",
    "no key": "true",
}
DATA = {
    "rows": ("true", "true"),
    "hot key": ("true", "true"),
    "empty left": ("false", "true"),
    "empty right": ("true", "false"),
    "one row each": ("id = 0", "id = 0"),
}
# These settings make each partition count as skewed.
SPLIT_EVERYTHING = {
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "0.1",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "64",
}
SWITCHES: dict[str, dict[str, dict[str, str]]] = {
    "skew": {
        "split": {"spark.joinery.lastJoin.skewSplit.enabled": "true", **SPLIT_EVERYTHING},
        "whole": {"spark.joinery.lastJoin.skewSplit.enabled": "false"},
    },
    "adaptive": {on: {"spark.sql.adaptive.enabled": on} for on in ("true", "false")},
    "codegen": {on: {"spark.sql.codegen.wholeStage": on} for on in ("true", "false")},
    "ansi": {on: {"spark.sql.ansi.enabled": on} for on in ("true", "false")},
}
DIMENSIONS: dict[str, list[str]] = {
    "hint": list(OPERATORS),
    "type": list(ORDER_TYPES),
    "direction": list(DIRECTIONS),
    "ties": ["total order", "ties"],
    "comparison": list(COMPARISONS),
    "tolerance": list(TOLERANCES),
    "residual": list(RESIDUALS),
    "key": list(KEYS),
    "data": list(DATA),
    **{name: list(values) for name, values in SWITCHES.items()},
}


def allowed(pair: Mapping[str, str]) -> bool:
    """Whether two values of `DIMENSIONS` can meet. A tolerance cannot meet strings, which have no distance."""
    return pair.get("type") != "string" or pair.get("tolerance", "no tolerance") == "no tolerance"


@dataclass(frozen=True)
class Query:
    """One query of the product.

    Attributes:
        case: A value for each of `DIMENSIONS`.
    """

    case: Mapping[str, str]

    @property
    def operator(self) -> str:
        """The operator that must run the query."""
        return (OPERATORS_WITHOUT_KEY if self.case["key"] == "no key" else OPERATORS)[self.case["hint"]]

    @property
    def settings(self) -> dict[str, str]:
        """The settings of the query's session."""
        return {key: value for name in SWITCHES for key, value in SWITCHES[name][self.case[name]].items()}

    @property
    def condition(self) -> str:
        way = "DESC" if self.case["direction"].startswith("DESC") else "ASC"
        tolerance = TOLERANCES[self.case["tolerance"]][way].format(x=ORDER_TYPES[self.case["type"]][1])
        parts = [KEYS[self.case["key"]], COMPARISONS[self.case["comparison"]][way], tolerance]
        return " AND ".join([part for part in parts if part != "true"] + [f"({RESIDUALS[self.case['residual']]})"])

    @property
    def sql(self) -> str:
        """The LAST JOIN."""
        hint = "" if self.case["hint"] == "no hint" else f"/*+ {self.case['hint']}(r) */"
        terms = [] if self.case["direction"] == "any" else [f"r.o {self.case['direction']}"]
        terms += ["r.id DESC"] if self.case["ties"] == "total order" else []
        order = f"ORDER BY {', '.join(terms)}" if terms else ""
        return f"SELECT {hint} l.id, r.id AS right_id, r.o, r.v FROM l l LAST JOIN r {order} ON {self.condition}"

    @property
    def answers_sql(self) -> str:
        """Stock SQL for the possible answers of each left row: all right rows that share the last place."""
        terms = [] if self.case["direction"] == "any" else [f"r.o {DIRECTIONS[self.case['direction']]}"]
        terms += ["r.id ASC"] if self.case["ties"] == "total order" else []
        return f"""
            SELECT id, right_id, o, v FROM (
              SELECT l.id, r.id AS right_id, r.o, r.v,
                     rank() OVER (PARTITION BY l.id ORDER BY {", ".join(terms) or "1"}) AS place
              FROM l LEFT JOIN r ON {self.condition}
            ) WHERE place = 1"""

    def use(self, spark: SparkSession) -> None:
        """Create the views l and r with this query's data. `load` must have run."""
        for side, predicate in zip("lr", DATA[self.case["data"]], strict=True):
            key = "hot" if self.case["data"] == "hot key" else "k"
            order = f"CAST(`{self.case['type']}` AS {self.case['type']})"
            spark.sql(
                f"CREATE OR REPLACE TEMPORARY VIEW {side} AS "
                f"SELECT id, {key} AS k, s, v, {order} AS o FROM all_{side} WHERE {predicate}"
            )


def load(spark: SparkSession, seed: int, rows: int = 120) -> None:
    """Create the views all_l and all_r with the rows of both sides, and an order column of every type.

    Args:
        spark: A classic session.
        seed: The same seed gives the same rows.
        rows: The number of rows on each side.
    """
    generator = random.Random(seed)
    for side in "lr":
        pools = {
            "k": [None, *range(8)],
            "hot": [None, 0, 1, 2, *[0] * 12],
            "v": [0, 1, 2, 3, 4],
            "s": [None, "", "x", "y", "Z"],
            **{kind: [None, *values] for kind, (values, _) in ORDER_TYPES.items()},
        }
        columns = {name: [generator.choice(pool) for _ in range(rows)] for name, pool in pools.items()}
        types = {"k": pa.int32(), "hot": pa.int32(), "v": pa.int32()}
        arrays = {name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()}
        table = pa.table({"id": pa.array(range(rows), pa.int32()), **arrays})
        spark.createDataFrame(table).createOrReplaceTempView(f"all_{side}")
