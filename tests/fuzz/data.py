"""Random tables. Types, pools of values and a seed describe them, so that a failing case can be written down."""

from __future__ import annotations

import hashlib
import json
import random
import time
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

CONTEXT = Context(prec=60)

# Folders of the registered tables, by name. Each application has its own folders.
REGISTERED: dict[str, Path] = {}

# A table in a case: {"seed": int, "rows": int, "files": int, "only": [row, ...] or None, "columns":
# {name: {"type": str, "pool": str, "nulls": share}}}.
#
# Two more keys are optional: "format", the format of its files, by default Parquet; and "unit", the unit of times in
# Parquet files, by default microseconds.
Table = dict[str, Any]

DAY = 86_400_000_000  # microseconds
# Instants in seconds around which clocks change, or a calendar skips a day: New York, Berlin, Apia, Sao Paulo,
# and the switch to the Gregorian calendar.
CHANGES = [1710054000, 1711846800, 1729994400, 1325239200, 1541300400, -12219292800, 0]
BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64, "date": 32, "timestamp": 64, "timestamp_ntz": 64}
DOUBLES = [
    float("nan"),
    float("inf"),
    float("-inf"),
    -0.0,
    0.0,
    1e308,
    -1e308,
    1.7976931348623157e308,
    5e-324,
    1.5,
    0.1,
]
TEXTS = ["", "a", "aa", "B", "ä", "😀", " ", "a ", "\u00a0", "%", "'", "\\", "\u0000"]
ARROW = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "string": pa.string(),
    "boolean": pa.bool_(),
}


def column(kind: str, pool: str, nulls: float = 0.0) -> dict[str, Any]:
    """Describe a column.

    Args:
        kind: The column's SQL type.
        pool: The pool of its values, see `_integers`.
        nulls: The share of NULLs, 0 to 1.
    """
    return {"type": kind, "pool": pool, "nulls": nulls}


def register(spark: SparkSession, folder: Path, name: str, table: Table) -> Path:
    """Register a table as a temporary view. Its files are written once for each description.

    Returns:
        The folder of the files.
    """
    described = json.dumps(table, sort_keys=True)
    path = folder / hashlib.sha256(described.encode()).hexdigest()[:16]
    schema = ", ".join(f"{column} {described['type']}" for column, described in table["columns"].items())
    if not path.exists():
        unit = table.get("unit")
        write(table, path, **({"coerce_timestamps": unit, "allow_truncated_timestamps": True} if unit else {}))
        if "format" in table:
            frame = spark.read.schema(schema).parquet(str(path))
            frame.write.format(table["format"]).save(f"{path}-{table['format']}")
    if REGISTERED.get(name) != path:  # most queries read the same tables as the query before
        reader = spark.read.schema(schema)
        if "format" in table:
            reader.format(table["format"]).load(f"{path}-{table['format']}").createOrReplaceTempView(name)
        else:
            reader.parquet(str(path)).createOrReplaceTempView(name)
        REGISTERED[name] = path
    return path


def write(table: Table, path: Path, **options: Any) -> None:
    """Write the files of a table.

    Args:
        table: The table's description.
        path: A folder that does not exist yet.
        options: Options of pyarrow's writer.
    """
    rows = arrow(table)
    path.mkdir(parents=True)
    files = max(1, table["files"])
    size = -(-rows.num_rows // files)
    for file in range(files):
        pq.write_table(rows.slice(file * size, size), path / f"part-{file}.parquet", **options)


def arrow(table: Table) -> pa.Table:
    """Draw the rows of a table."""
    arrays = {}
    for name, described in table["columns"].items():
        rng = random.Random(f"{table['seed']} {name}")
        values = _values(rng, described, table["rows"])
        if described["nulls"]:
            values = [None if rng.random() < described["nulls"] else value for value in values]
        arrays[name] = _array(described["type"], values)
    rows = pa.table(arrays)
    return rows if table.get("only") is None else rows.take(table["only"])


def as_values(table: Table) -> str:
    """The rows of a small table as SQL, exact to the bit."""
    rows = arrow(table)
    kinds = [described["type"] for described in table["columns"].values()]
    texts = [
        "(" + ", ".join(_literal(kind, value) for kind, value in zip(kinds, row, strict=True)) + ")"
        for row in zip(*(_plain(rows.column(name)) for name in table["columns"]), strict=True)
    ]
    names = ", ".join(table["columns"])
    if not texts:
        nulls = ", ".join(f"CAST(NULL AS {kind}) {name}" for name, kind in zip(table["columns"], kinds, strict=True))
        return f"SELECT {nulls} WHERE false"
    return "SELECT * FROM VALUES\n  " + ",\n  ".join(texts) + f"\n  AS t({names})"


def _values(rng: random.Random, described: dict[str, Any], rows: int) -> list[Any]:
    kind, pool = described["type"], described["pool"]
    if kind == "boolean":
        return [rng.random() < 0.5 for _ in range(rows)]
    if kind.startswith("decimal"):
        return _integers(rng, pool, rows, int(10 ** int(kind[8:-1].split(",")[0])) - 1, 1)
    if kind in ("float", "double"):
        return _floats(rng, pool, rows)
    if kind == "string":
        return _texts(rng, pool, rows)
    if pool == "today":
        today = int(time.time()) // 86400
        days = [today + rng.randint(-4, 3) for _ in range(rows)]
        return days if kind == "date" else [day * DAY for day in days]
    if kind in ("timestamp", "timestamp_ntz"):
        return _integers(rng, pool, rows, 2**63 - 1, 1_800_000_000, [second * 1_000_000 for second in CHANGES])
    if kind == "date":
        return _integers(rng, pool, rows, 2**31 - 1, 1, [second * 1_000_000 // DAY for second in CHANGES])
    half = 2 ** (BITS[kind] - 1)
    return [(value + half) % (2 * half) - half for value in _integers(rng, pool, rows, half - 1, 1)]


def _integers(
    rng: random.Random, pool: str, rows: int, greatest: int, step: int, around: list[int] | None = None
) -> list[int]:
    """Integers of a pool.

    Args:
        rng: The generator.
        pool: The name of a pool. The pool "sequence" is distinct and ascending, "few" has eight values, "hot" is
            mostly 1, and "one" is only 1. The pool "dense" has ties, "many" few ties. The pool "wide" is the whole
            type, and "ends" its ends and zero. The pool "changes" is around changes of clocks and calendars, for
            times. The pool "mixed" draws a pool for each value. The pool "late ends" is dense, except for the last
            rows.
        rows: The number of values.
        greatest: The greatest value of the type; the least is its negative, or one below.
        step: The distance between neighbours.
        around: The values around which "changes" draws.
    """
    least = -greatest if greatest % 10 == 9 and greatest not in (2**31 - 1, 2**63 - 1) else -greatest - 1
    origin = around[0] - 4 * step if around else 0
    match pool:
        case "sequence":
            return list(range(rows))
        case "few":
            return rng.choices([origin + i * step for i in range(8)], k=rows)
        case "one":
            return [1] * rows
        case "hot":
            return rng.choices([1] * 12 + [0, 2, 3, 4], k=rows)
        case "dense":
            return [origin + rng.randrange(max(4, rows // 4)) * step for _ in range(rows)]
        case "many":
            return [origin + rng.randrange(rows * 2 + 1) * step for _ in range(rows)]
        case "wide":
            return [rng.randint(least, greatest) for _ in range(rows)]
        case "ends":
            ends = [least, least + 1, least + 2, -1, 0, 1, 2, greatest - 2, greatest - 1, greatest]
            return rng.choices(ends, k=rows)
        case "late ends":
            calm = _integers(rng, "dense", rows, greatest, step, around)
            return [greatest if i > rows * 0.9 else value for i, value in enumerate(calm)]
        case "changes":
            base = around or [0]
            return [rng.choice(base) + rng.randint(-6, 6) * step for _ in range(rows)]
    pools = ["few", "dense", "wide", "ends", "changes"]
    drawn = {name: _integers(rng, name, rows, greatest, step, around) for name in pools}
    return [drawn[rng.choice(pools)][i] for i in range(rows)]


def _floats(rng: random.Random, pool: str, rows: int) -> list[float]:
    match pool:
        case "ends":
            return rng.choices(DOUBLES, k=rows)
        case "wide":
            return [rng.uniform(-1, 1) * 10.0 ** rng.randint(-12, 12) for _ in range(rows)]
        case "mixed":
            return [rng.choice(DOUBLES) if rng.random() < 0.1 else rng.randint(-50, 50) / 4 for _ in range(rows)]
        case "late ends":
            return [1e308 if i > rows * 0.9 else rng.randint(-50, 50) / 4 for i in range(rows)]
        case "one infinity":
            at = rng.randrange(rows) if rows else 0
            return [float("inf") if i == at else rng.randint(-50, 50) / 4 for i in range(rows)]
    return [value / 4 for value in _integers(rng, pool, rows, 2**53, 1)]


def _texts(rng: random.Random, pool: str, rows: int) -> list[str]:
    if pool == "padding":
        return ["x" * rng.choice([0, 10, 100, 400]) for _ in range(rows)]
    if pool == "wide padding":
        return ["x" * rng.choice([10, 300, 300, 1000]) for _ in range(rows)]
    if pool == "ends":
        return rng.choices(TEXTS, k=rows)
    return [str(value) for value in _integers(rng, pool, rows, 2**31 - 1, 1)]


def _array(kind: str, values: list[Any]) -> pa.Array:
    if kind.startswith("decimal"):
        precision, scale = (int(part) for part in kind[8:-1].split(","))
        exact = [None if v is None else Decimal(v).scaleb(-scale, CONTEXT) for v in values]
        return pa.array(exact, pa.decimal128(precision, scale))
    if kind == "date":
        return pa.array(values, pa.int32()).view(pa.date32())
    if kind in ("timestamp", "timestamp_ntz"):
        return pa.array(values, pa.int64()).view(ARROW[kind])
    return pa.array(values, ARROW[kind])


def _plain(values: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_date32(values.type):
        return values.cast(pa.int32()).to_pylist()
    return values.cast(pa.int64()).to_pylist() if pa.types.is_timestamp(values.type) else values.to_pylist()


def _literal(kind: str, value: Any) -> str:
    if value is None:
        return f"CAST(NULL AS {kind})"
    match kind:
        case "date":
            return f"date_from_unix_date({value})" if value > -(2**31) else "date_from_unix_date(-2147483647 - 1)"
        case "timestamp":
            return f"timestamp_micros({_literal('bigint', value)})"
        case "timestamp_ntz":
            return f"CAST(CAST({value} AS DECIMAL(20,0)) / 1000000 AS STRING) /* micros of timestamp_ntz */"
        case "string":
            return "unhex('" + value.encode().hex() + "')" if not value.isalnum() else f"'{value}'"
        case "boolean":
            return str(value).lower()
    return f"CAST('{value}' AS {kind})"
