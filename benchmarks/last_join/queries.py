"""The same question in all spellings of Spark SQL and DuckDB.

Every query returns the same columns: all of `l`, then `r`'s as `r_ts`, `r_value`, `r_qty`, `r_note`.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.common.rounds import FLOOR, FLOOR_UNSORTED

NO_SPLIT = "joinery, skewed partitions whole"
DEDUP = "left join + dedup"
ROW_NUMBER = "left join + row_number"
MAX_BY = "max_by, then join"
ROW_NUMBER_FIRST = "row_number, then join"
ASOF = "Spark ASOF"
UNION = "union + last_value"

_RIGHT = "r.ts AS r_ts, r.value AS r_value, r.qty AS r_qty, r.note AS r_note"
_STRUCT = "struct(r.ts, r.value, r.qty, r.note)"
_PARTS = "m.ts AS r_ts, m.value AS r_value, m.qty AS r_qty, m.note AS r_note"
_LEFT_WITH_ID = "(SELECT *, monotonically_increasing_id() AS row_id FROM l)"


@dataclass(frozen=True)
class Question:
    """The condition by which a row of `r` is the last for a row of `l`.

    Args:
        keyed: Whether `l.k = r.k` is a part of it.
        as_of: Whether `r.ts <= l.ts` is a part of it.
    """

    keyed: bool
    as_of: bool

    @property
    def on(self) -> str:
        """The ON condition."""
        return " AND ".join(["l.k = r.k"] * self.keyed + ["r.ts <= l.ts"] * self.as_of)

    @property
    def by(self) -> str:
        """PARTITION BY of a window, or nothing."""
        return "PARTITION BY k" if self.keyed else ""


def last_join(question: Question, hint: str = "") -> str:
    """Joinery's query.

    Args:
        question: The question.
        hint: BROADCAST, MERGE or SHUFFLE_HASH; empty for the automatic choice.
    """
    hint = f"/*+ {hint}(r) */" if hint else ""
    return f"SELECT {hint} l.*, {_RIGHT} FROM l l LAST JOIN r ORDER BY r.ts ON {question.on}"


def spark_peers(question: Question) -> dict[str, str]:
    """Queries for stock Spark 4.3.

    Args:
        question: The question.

    Returns:
        SQL by name, in the fastest spelling of each idea.
    """
    joined = f"{_LEFT_WITH_ID} l LEFT JOIN r ON {question.on}"
    peers = {
        DEDUP: f"SELECT id, k, ts, value, {_PARTS} FROM (SELECT row_id, l.id, l.k, l.ts, l.value, "
        f"max_by({_STRUCT}, r.ts) AS m FROM {joined} GROUP BY ALL)",
        ROW_NUMBER: "SELECT id, k, ts, value, r_ts, r_value, r_qty, r_note FROM (SELECT l.*, "
        f"{_RIGHT}, row_number() OVER (PARTITION BY row_id ORDER BY r.ts DESC) AS n FROM {joined}) WHERE n = 1",
    }
    if question.as_of:
        match = "l.ts >= r.ts"
        on = "ON l.k = r.k" if question.keyed else ""
        peers[ASOF] = f"SELECT l.*, {_RIGHT} FROM l LEFT ASOF JOIN r MATCH_CONDITION ({match}) {on}"
        peers[UNION] = (
            f"SELECT id, k, ts, value, {_PARTS} FROM (SELECT *, last_value(s) IGNORE NULLS OVER ({question.by} "
            "ORDER BY ts, id NULLS FIRST ROWS UNBOUNDED PRECEDING) AS m FROM ("
            f"SELECT *, NULL AS s FROM l UNION ALL SELECT NULL, r.k, r.ts, NULL, {_STRUCT} FROM r)) "
            "WHERE id IS NOT NULL"
        )
    else:
        peers[MAX_BY] = (
            f"SELECT l.*, {_PARTS} FROM l LEFT JOIN "
            f"(SELECT r.k, max_by({_STRUCT}, r.ts) AS m FROM r GROUP BY r.k) r ON l.k = r.k"
        )
        peers[ROW_NUMBER_FIRST] = (
            f"SELECT l.*, {_RIGHT} FROM l LEFT JOIN (SELECT * FROM (SELECT *, "
            "row_number() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM r) WHERE n = 1) r ON l.k = r.k"
        )
    return peers


def floors(question: Question) -> dict[str, str]:
    """Lower bounds for joins that shuffle both sides: a scan and a shuffle of both, with a sort and without."""
    keys = "k, ts" if question.keyed else "ts"
    sides = [
        "SELECT id, k, ts, value, NULL AS qty, NULL AS note FROM l",
        "SELECT NULL AS id, k, ts, value, qty, note FROM r",
    ]
    hint = "REPARTITION(k)" if question.keyed else "REPARTITION_BY_RANGE(ts)"
    sides = [side.replace("SELECT", f"SELECT /*+ {hint} */", 1) for side in sides]
    return {
        FLOOR: " UNION ALL ".join(f"(SELECT * FROM ({side}) SORT BY {keys})" for side in sides),
        FLOOR_UNSORTED: " UNION ALL ".join(f"({side})" for side in sides),
    }


def duckdb(question: Question) -> str:
    """DuckDB's fastest query.

    Args:
        question: The question.
    """
    if question.as_of:
        on = "l.k = r.k AND l.ts >= r.ts" if question.keyed else "l.ts >= r.ts"
        return f"SELECT l.*, {_RIGHT} FROM l ASOF LEFT JOIN r ON {on}"
    best = "SELECT k, arg_max({'ts': ts, 'value': value, 'qty': qty, 'note': note}, ts) AS m FROM r GROUP BY k"
    return f"SELECT l.*, {_PARTS} FROM l LEFT JOIN ({best}) r ON l.k = r.k"
