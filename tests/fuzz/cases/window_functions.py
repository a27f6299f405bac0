"""Draws window functions and frames."""

from __future__ import annotations

import random
import re
from typing import Any

# A function in a case: {"call": SQL, "frame": SQL, "rounding": "sum", "average", "moment", "ratio", "zero"
# or None, "of": the summed expression}.
Function = dict[str, Any]

NUMBERS = ["x_int", "x_small", "x_bigint", "x_double", "x_float", "x_dec", "x_dec38"]
EVERYTHING = [*NUMBERS, "x_date", "x_string", "x_bool", "id"]
INTERVALS = [
    "(timestamp_micros(x_bigint) - timestamp_micros(0))",
    "make_ym_interval(0, x_int)",
    "make_dt_interval(0, 0, 0, x_int)",
]
NANOS = "(1700000000000000000 + x_int)"
FILTERS = [" FILTER (WHERE v > 2)", " FILTER (WHERE x_bool)"]
STAYS_WHOLE = re.compile(
    r"row_number|rank|ntile|cume_dist|nth_value|collect_list|IGNORE NULLS|(sum|avg)\((x_dec38|make_|\(timestamp)"
)
# The most rows that stock Spark has to visit, as rows of the table times rows of a frame.
MOST_STEPS = 2_000_000


def draw_function(rng: random.Random, frame: str, total: bool) -> Function:
    """Draw a function.

    Args:
        rng: The generator.
        frame: The frame of the function.
        total: Whether the order of rows is total, so that functions may depend on it.
    """
    drawn = rng.random()
    condition = rng.choice(FILTERS) if rng.random() < 0.15 else ""
    if drawn < 0.2:
        of = rng.choice(["x_double", "x_float", "x_double"])
        return _function(f"sum({of}){condition}", frame, "sum", of, condition)
    if drawn < 0.3:
        of = rng.choice(["x_double", "x_float", "x_int", "x_bigint", NANOS])
        return _function(f"{rng.choice(['avg', 'avg', 'try_avg'])}({of}){condition}", frame, "average", of, condition)
    if drawn < 0.4:
        of = rng.choice(["x_double", "x_int", "x_float", "x_bigint"])
        name = rng.choice(["stddev", "var_pop", "variance", "stddev_pop"])
        return _function(f"{name}({of}){condition}", frame, "moment", of, condition)
    if drawn < 0.45:
        of = rng.choice(
            ["skewness(x_double)", "kurtosis(x_double)", "corr(x_double, y_double)", "covar_pop(x_double, y_double)"]
        )
        return _function(f"{of}{condition}", frame, "ratio", "x_double", condition)
    if drawn < 0.65:
        of = rng.choice(["x_int", "x_bigint", "x_dec", "x_dec38", NANOS, *INTERVALS])
        names = ["sum", "sum", "try_sum"] + (["avg"] if of.startswith(("x_dec", "(t", "make")) else [])
        name = rng.choice(names)
        # the order of tied rows decides whether an addition overflows on the way, which makes all NULL
        return _function(f"{name}({of}){condition}", frame, "overflow" if name == "try_sum" and not total else None)
    if drawn < 0.85 or not total:
        calls = [f"{name}({rng.choice(EVERYTHING)})" for name in ("min", "max", "count")]
        calls += ["count(*)", "bool_and(x_bool)", "bool_or(x_bool)", "count(x_int, x_string)"]
        calls += [f"{name}({rng.choice(['x_int', 'x_bigint'])})" for name in ("bit_and", "bit_or", "bit_xor")]
        call = rng.choice(calls)
        # Spark takes 0.0 and -0.0 for equal, and keeps the first that it meets, which may be either with ties
        is_of_zeros = not total and re.match(r"(min|max)\(x_(double|float)\)", call)
        return _function(call + condition, frame, "zero" if is_of_zeros else None)
    value = rng.choice(EVERYTHING)
    calls = [
        f"first({value})",
        f"last({value})",
        f"first({value}, true)",
        f"any_value({value})",
        f"last({value}, true)",
    ]
    calls += [f"max_by({value}, id)", f"min_by({value}, id)", f"nth_value({value}, 2)", f"collect_list({value})"]
    if rng.random() < 0.5:
        return _function(rng.choice(calls), frame)
    calls = [
        "row_number()",
        "rank()",
        "dense_rank()",
        f"lag({value}, 1)",
        f"lead({value}, 3)",
        f"lag({value}, 2, NULL)",
    ]
    calls += ["ntile(3)", "percent_rank()", "cume_dist()", f"lag({value}) IGNORE NULLS"]
    return _function(rng.choice(calls), "")


def draw_cuttable(rng: random.Random, frame: str, total: bool) -> Function:
    """Draw a function over a bounded frame that does not keep hot keys whole; parameters as in `draw_function`."""
    while STAYS_WHOLE.search((function := draw_function(rng, frame, total))["call"]):
        pass
    return function


def _function(
    call: str, frame: str, rounding: str | None = None, of: str | None = None, condition: str = ""
) -> Function:
    return {"call": call, "frame": frame, "rounding": rounding, "of": of, "filter": condition}


def frames_of(rng: random.Random, kind: str, total: bool, rows: int) -> list[str]:
    """A few frames for one window: ROWS frames if the order is total, otherwise RANGE frames."""
    if total:
        return [_rows(rng, rows) for _ in range(rng.randint(1, 3))]
    return [_range(rng, kind) for _ in range(rng.randint(1, 3))]


def _rows(rng: random.Random, rows: int) -> str:
    longest = max(1, MOST_STEPS // max(1, rows))
    offsets = [n for n in (0, 1, 2, 3, 10, 100, 1000, 5000, 2147483646) if n <= longest or (n > 10**9 and rows <= 1000)]
    drawn = rng.random()
    if drawn < 0.25:
        return "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    if drawn < 0.3:
        return "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    if drawn < 0.35 and rows <= 1000:
        return f"ROWS BETWEEN {rng.choice(offsets)} PRECEDING AND UNBOUNDED FOLLOWING"
    if drawn < 0.4:
        return f"ROWS BETWEEN UNBOUNDED PRECEDING AND {rng.choice(offsets)} {rng.choice(['PRECEDING', 'FOLLOWING'])}"
    low, high = sorted([rng.choice(offsets) * rng.choice([-1, -1, 1]), rng.choice(offsets) * rng.choice([-1, 1])])
    return f"ROWS BETWEEN {_side(str(abs(low)), low)} AND {_side(str(abs(high)), high)}"


def _side(offset: str, sign: int) -> str:
    return "CURRENT ROW" if sign == 0 else f"{offset} {'PRECEDING' if sign < 0 else 'FOLLOWING'}"


def _range(rng: random.Random, kind: str) -> str:
    offsets = _offsets(kind)
    drawn = rng.random()
    if drawn < 0.15 or not offsets:
        return rng.choice(
            [
                "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
                "RANGE BETWEEN CURRENT ROW AND CURRENT ROW",
                "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            ]
        )
    ends = ["CURRENT ROW", "UNBOUNDED FOLLOWING"] + [f"{offset} FOLLOWING" for offset in offsets] * 2
    begins = ["CURRENT ROW", "UNBOUNDED PRECEDING"] + [f"{offset} PRECEDING" for offset in offsets] * 4
    if drawn < 0.25:
        # between two offsets on the same side, the greater one first
        at = rng.randrange(len(offsets))
        return f"RANGE BETWEEN {offsets[-1]} PRECEDING AND {offsets[at]} PRECEDING"
    return f"RANGE BETWEEN {rng.choice(begins)} AND {rng.choice(ends)}"


def _offsets(kind: str) -> list[str]:
    match kind:
        case "int":
            return ["0", "2", "50", "2147483647"]
        case "bigint":
            return ["0L", "2L", "50L", "9223372036854775807L"]
        case "smallint":
            return ["0S", "2S", "32767S"]
        case "tinyint":
            return ["0Y", "2Y", "127Y"]
        case "double":
            return ["0D", "1.5D", "1e308D", "DOUBLE('Infinity')"]
        case "float":
            return ["CAST(0 AS FLOAT)", "CAST(1.5 AS FLOAT)", "FLOAT('Infinity')"]
        case "decimal(10,2)":
            return ["0.50BD", "1.09BD", "99.99BD"]
        case "date":
            return ["0", "3", "INTERVAL '3' DAY", "INTERVAL '1' MONTH", "2147483647"]
        case "timestamp" | "timestamp_ntz":
            return [
                "INTERVAL '1' HOUR",
                "INTERVAL '1' DAY",
                "INTERVAL '2' DAY",
                "INTERVAL '1' MONTH",
                "INTERVAL '106751991 04:00:54.775807' DAY TO SECOND",
            ]
    return []
