"""Names that Python, Scala and the dbt macros must agree on, each defined here once.

`tests/golden/` holds the vectors that the tests of every language read.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from spark_joinery.errors import JoineryError

if TYPE_CHECKING:
    from spark_joinery.metadata.models import Kind, Spec

SESSION_CATALOG = "spark_catalog"

# Formats of Spark's SQL on files: FROM parquet.`/data/flights`
FILE_FORMATS = frozenset({"avro", "csv", "delta", "json", "orc", "parquet", "text"})

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.\s]+)")
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(.*)")


class RelationNameError(JoineryError):
    """A text that is not the name of a table or path."""


def split_name(name: str) -> tuple[str, ...]:
    """Take a Spark table name apart.

    Args:
        name: The name as in SQL. Parts with odd characters are in backticks: "raw.`a.b`".

    Returns:
        The parts without quotes.

    Raises:
        RelationNameError: If Spark could not read it as a name either.

    Example:
        >>> split_name("raw.`flights 2013`")
        ('raw', 'flights 2013')
    """
    parts: list[str] = []
    at = 0
    while match := _PART.match(name, at):
        quoted, plain = match.groups()
        parts.append(plain or quoted.replace("``", "`"))
        if match.end() == len(name):
            return tuple(parts)
        if name[match.end()] != ".":
            break
        at = match.end() + 1
    raise RelationNameError(f"'{name}' is not a table name: expected [catalog.]schema.table, odd parts in backticks")


def quote_name(*parts: str) -> str:
    """Write a table name as SQL, every part that needs it in backticks.

    Args:
        parts: Catalog, schema and table; the first ones may be missing.

    Returns:
        A name that `spark.table` and SQL accept.

    Example:
        >>> quote_name("raw", "flights 2013")
        'raw.`flights 2013`'
    """
    return ".".join(p if _PLAIN.fullmatch(p) else "`" + p.replace("`", "``") + "`" for p in parts)


def relation_identity(catalog: str | None, schema: str, name: str) -> str:
    """The one spelling of a table's name.

    Spark's session catalog ignores case, so its names are lower-cased. Other catalogs may not, so their names stay as
    they are.

    Args:
        catalog: Catalog name, unquoted; None for the session catalog.
        schema: Schema (database) name, unquoted; Spark's SQL on files has the format here ("parquet").
        name: Table name, unquoted; or the path.

    Returns:
        "catalog.schema.name", parts other than letters, digits and _ in backticks; for SQL on files the canonical URI.

    Example:
        >>> relation_identity(None, "raw", "Flights")
        'spark_catalog.raw.flights'
    """
    if catalog is None and schema.lower() in FILE_FORMATS and "/" in name:
        return path_identity(name)
    parts = (catalog or SESSION_CATALOG, schema, name)
    if parts[0].lower() == SESSION_CATALOG:
        parts = (SESSION_CATALOG, schema.lower(), name.lower())
    return quote_name(*parts)


def path_identity(path: str) -> str:
    """The one spelling of a path: as Hadoop prints it, without `.`, `..`, doubled and trailing slashes.

    Args:
        path: Absolute path or URI; a path without scheme is a local one.

    Returns:
        "scheme:/path" or "scheme://authority/path", scheme and authority in lower case.

    Raises:
        RelationNameError: If it is relative: its meaning would depend on the working directory of its reader.

    Example:
        >>> path_identity("file:///data//flights/")
        'file:/data/flights'
    """
    match = _URI.fullmatch(path)
    scheme, authority, rest = match.groups() if match else ("file", None, path)
    if not rest.startswith("/"):
        raise RelationNameError(f"'{path}' is not an absolute path or URI")
    place = f"//{authority.lower()}" if authority else ""
    return f"{scheme.lower()}:{place}/{posixpath.normpath(rest).lstrip('/')}"


def canonical_json(value: Any) -> str:
    """JSON with one spelling per value.

    Keys sorted, no white space, None left out of objects, only `"`, `\\` and control characters escaped, numbers
    in plain decimals without trailing zeros (Java: `BigDecimal.stripTrailingZeros.toPlainString`).

    Args:
        value: dict, list, str, int, float or bool, nested.

    Returns:
        The text.

    Example:
        >>> canonical_json({"b": 1.0, "a": [1e-05], "c": None})
        '{"a":[0.00001],"b":1}'
    """
    if isinstance(value, dict):
        items = (f"{json.dumps(k)}:{canonical_json(value[k])}" for k in sorted(value) if value[k] is not None)
        return "{" + ",".join(items) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, float):
        text = format(Decimal(repr(value)), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return json.dumps(value, ensure_ascii=False)


def spec_hash(kind: Kind, spec: Spec) -> str:
    """Short name of a specification: the folder of its artifact.

    Args:
        kind: Kind of artifact.
        spec: What to compute. Defaults are filled in, so writing a default down changes nothing.

    Returns:
        The first 16 hex digits of the SHA-256 of `{"kind":...,"spec":{...}}` as canonical JSON in UTF-8.
    """
    text = canonical_json({"kind": kind, "spec": spec.model_dump(mode="json")})
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def distribution_table_name(parts: tuple[str, ...], partition_by: list[str], order_by: str) -> str:
    """Name of the table under which a distribution is registered.

    The dbt macros compute the same in Jinja, so it uses only what Jinja has: lower, replace, slice, md5.

    Args:
        parts: Unquoted parts of the relation's name: catalog, schema and table, without the session catalog; for a
            path, the URI alone.
        partition_by: Key columns, unquoted.
        order_by: Order column, unquoted.

    Returns:
        `dist_<first 24 characters of the table name>_<8 hex digits of the md5 of "schema.table|k1,k2|order_by">`, all
        lower-cased, characters other than a-z, 0-9 and _ in the table name replaced by _.
    """
    text = f"{'.'.join(parts)}|{','.join(partition_by)}|{order_by}".lower()
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    readable = re.sub("[^a-z0-9_]", "_", parts[-1].lower())[:24]
    return f"dist_{readable}_{digest[:8]}"
