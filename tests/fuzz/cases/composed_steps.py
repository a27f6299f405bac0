"""The steps of composed queries.

Each step is a CTE with the columns id, k, o and v over the step before, x; y is a table or an earlier step. Each id
occurs once, so that a LAST JOIN over the step has one answer. {5} and {9} are added to o; `with_offsets` fills them in.
"""

from __future__ import annotations

# Expressions for the columns k and o, so that both sides of each comparison have the same type.
KEYS = ["k"] * 6
KEYS += ["CAST(k AS STRING)", "struct(k)", "array(k)", "CAST(k AS DECIMAL(12,2))", "date_add(DATE'2021-02-03', k)"]
KEYS += ["CAST(CAST(k AS STRING) AS BINARY)", "IF(k = 1, FLOAT('NaN'), CAST(k AS FLOAT))"]
ORDERS = ["o"] * 4
ORDERS += ["CAST(o AS BIGINT)", "CAST(o AS DECIMAL(12,2))", "IF(o % 7 = 3, DOUBLE('NaN'), CAST(o AS DOUBLE))"]
ORDERS += ["date_add(DATE'2020-02-20', o)", "timestamp_seconds(o * 3600)"]
HOURS = "INTERVAL '{n}' HOUR"

LAST_JOINS = ["x.k = y.k", "x.k = y.k", "x.k <=> y.k AND y.o <= x.o", "x.k = y.k AND y.o <= x.o", "y.o < x.o"]
LAST_JOINS += ["x.k = y.k AND y.o <= x.o AND y.v <> x.v", "x.k = y.k AND x.v = y.v AND y.o <= x.o"]
LAST_JOINS += ["x.k = y.k AND y.o BETWEEN x.o - {5} AND x.o", "x.k = y.k AND y.o <= x.o AND y.id > 3"]
LAST_JOINS += ["x.k = y.k AND y.v IN (SELECT v FROM r WHERE id < 9)", "y.o <= x.o AND x.id IN (SELECT id FROM r)"]

PARTITIONS = ["PARTITION BY k", "PARTITION BY k", "PARTITION BY k, v % 2", "PARTITION BY hash(o) % 5", ""]
WINDOWS = [
    "sum(v) OVER ({by} ORDER BY o, id ROWS BETWEEN {n} PRECEDING AND CURRENT ROW)",
    "max(v) OVER ({by} ORDER BY o, id ROWS BETWEEN {n} PRECEDING AND 1 FOLLOWING)",
    "sum(v) OVER ({by} ORDER BY o RANGE BETWEEN {offset} PRECEDING AND CURRENT ROW)",
    "count(*) OVER ({by} ORDER BY o DESC RANGE BETWEEN {offset} PRECEDING AND {offset} FOLLOWING)",
    "sum(v) OVER ({by} ORDER BY o, id)",
    "row_number() OVER ({by} ORDER BY o, id)",
    "lag(v, {n}) OVER ({by} ORDER BY o DESC, id)",
]

JOINS = ["x.k = y.k", "x.o BETWEEN y.o AND y.o + {9}", "x.k = y.k AND x.o BETWEEN y.o - {5} AND y.o + {5}", "x.o = y.o"]
JOINS += [
    "x.v = y.v",
    "x.id = y.v",
    "x.k = y.k AND x.v = y.v",
    "x.o < y.o AND x.v > y.v",
    "x.k = y.k AND y.id > (SELECT min(id) + 2 FROM r)",
]
KINDS = ["JOIN", "JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "RIGHT JOIN", "FULL JOIN"]

# Steps of stock Spark over the rows {x} of the step before; {r} is the right table.
RESHAPED = [
    "SELECT /*+ REPARTITION(3, k) */ * FROM {x}",
    "SELECT /*+ REPARTITION_BY_RANGE(4, o) */ * FROM {x}",
    "SELECT /*+ REBALANCE(k) */ * FROM {x}",
    "SELECT * FROM {x} DISTRIBUTE BY k SORT BY k, o",
    "SELECT * FROM {x} CLUSTER BY o",
    "SELECT * FROM {x} ORDER BY o DESC, id LIMIT 60",
    "SELECT * FROM {x} ORDER BY id LIMIT 40 OFFSET 5",
    "SELECT * FROM {x} WHERE id % 2 = 0 UNION ALL SELECT * FROM {x} WHERE id % 2 <> 0",
    "SELECT DISTINCT id, k, o, v FROM {x}",
    "SELECT id, k, o, v FROM {x} EXCEPT SELECT id, k, o, v FROM {r}",
    "SELECT id * 2 + i AS id, k, o, v + i AS v FROM {x} LATERAL VIEW explode(array(0, 1)) e AS i",
    "SELECT max(id) AS id, k, o, sum(v) % 1000 AS v FROM {x} GROUP BY k, o",
    "SELECT max(id) AS id, k, max(o) AS o, count(*) AS v FROM {x} GROUP BY k",
    "SELECT max(id) * 4 + grouping_id() AS id, k, o, sum(v) % 1000 AS v FROM {x} GROUP BY GROUPING SETS ((k), (k, o))",
    "SELECT id, k, o, v FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY o, id) AS place FROM {x}) WHERE place < 4",
    "SELECT * FROM {x} WHERE v > (SELECT min(v) FROM {x})",
    "SELECT * FROM {x} WHERE id IN (SELECT id FROM r WHERE v > 1)",
    "SELECT * FROM {x} WHERE k NOT IN (SELECT k FROM {r} WHERE k IS NOT NULL AND id < 5)",
    "SELECT * FROM {x} x WHERE EXISTS (SELECT 1 FROM {r} y WHERE y.k = x.k AND y.o < x.o)",
    "SELECT id, k, o, coalesce((SELECT max(y.v) FROM {r} y WHERE y.k = x.k), 0) AS v FROM {x} x",
]
# A table may be cached in memory, or stored in buckets.
CACHED = [
    "SELECT * FROM {t}",
    "SELECT /*+ REPARTITION(3, k) */ * FROM {t}",
    "SELECT * FROM {t} DISTRIBUTE BY k SORT BY k, o",
    "SELECT * FROM {t} CLUSTER BY o",
]
BUCKETED = "bucketed"

# Ends of a query over the rows {x} of the last step; a LIMIT takes any of them.
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
# Settings of Spark that must not change an answer, and that mainly affect composed queries.
RARELY_SET: dict[str, tuple[float, str]] = {
    "spark.sql.requireAllClusterKeysForDistribution": (0.1, "true"),
    "spark.sql.requireAllClusterKeysForCoPartition": (0.1, "false"),
    "spark.sql.adaptive.forceOptimizeSkewedJoin": (0.1, "true"),
    "spark.sql.execution.usePartitionEvaluator": (0.1, "true"),
    "spark.sql.constraintPropagation.enabled": (0.05, "false"),
    "spark.sql.join.preferSortMergeJoin": (0.1, "false"),
    "spark.sql.execution.removeRedundantSorts": (0.05, "false"),
    "spark.sql.execution.removeRedundantProjects": (0.05, "false"),
    "spark.sql.execution.reuseSubquery": (0.05, "false"),
    "spark.sql.planChangeValidation": (0.1, "true"),
}


def offset(order: str, n: int) -> str:
    """A number as an offset for the type of o: hours for timestamps, otherwise the number itself.

    Args:
        order: One of `ORDERS`.
        n: The number.
    """
    return HOURS.format(n=n) if order.startswith("timestamp") else str(n)


def with_offsets(text: str, order: str) -> str:
    """A condition with {5} and {9} replaced by offsets for the type of o."""
    return text.replace("{5}", offset(order, 5)).replace("{9}", offset(order, 9))
