"""What the builders of all kinds have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_joinery.errors import JoineryError
from spark_joinery.metadata import Spec

# Of the specifications of all kinds, what names columns.
_NAMES_COLUMNS = ("partition_by", "order_by", "keys", "start", "end", "point", "columns")


class ColumnMissingError(JoineryError):
    """A specification names a column that the relation does not have."""


class ColumnUnusableError(JoineryError):
    """A column's name or type does not allow the artifact."""


class DriftError(Exception):
    """The former version has become a bad start: all rows must be read. The message is the reason."""


@dataclass(frozen=True)
class Built:
    """An artifact whose files are written.

    Attributes:
        rows: Rows of the relation, those of earlier versions included.
        keys: Distinct keys, exact or estimated; None where the kind has no keys.
        hot_keys: Keys that are hot; None where the kind knows none.
        details: Further fields for `version.json`.
    """

    rows: int
    keys: int | None = None
    hot_keys: int | None = None
    details: dict[str, Any] = field(default_factory=dict)


def resolve(frame: DataFrame, wanted: list[str], relation: str) -> list[str]:
    """Find columns as the session does, with or without regard to case.

    Args:
        frame: The relation.
        wanted: Names of columns.
        relation: What to call the relation in errors.

    Returns:
        The relation's own spelling of each.

    Raises:
        ColumnMissingError: If it lacks one.
    """
    spark = frame.sparkSession
    fold = str if str(spark.conf.get("spark.sql.caseSensitive")).lower() == "true" else str.lower
    there = {fold(name): name for name in frame.columns}
    missing = [name for name in wanted if fold(name) not in there]
    if missing:
        columns = ", ".join(f"'{name}'" for name in missing)
        raise ColumnMissingError(f"{relation} has no column {columns}. Its columns are: {', '.join(frame.columns)}.")
    return [there[fold(name)] for name in wanted]


def spelled(frame: DataFrame, spec: Spec, relation: str) -> Spec:
    """Write a specification with the names that the relation has for its columns.

    Args:
        frame: The relation.
        spec: The specification, as declared.
        relation: What to call the relation in errors.

    Returns:
        The specification as a version holds it: the jar compares its names with those of the source, letter by letter.

    Raises:
        ColumnMissingError: If the relation lacks a column.
    """
    declared = columns_of(spec.model_dump(mode="json"))
    wanted = [name for value in declared.values() for name in ([value] if isinstance(value, str) else value)]
    spelling = dict(zip(wanted, resolve(frame, wanted, relation), strict=True))
    named = {
        field: spelling[value] if isinstance(value, str) else [spelling[name] for name in value]
        for field, value in declared.items()
    }
    return spec.model_copy(update=named)


def columns_of(spec: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """The fields of a specification that name columns, as JSON has them."""
    return {field: spec[field] for field in _NAMES_COLUMNS if spec.get(field)}


def column(name: str) -> Column:
    """A column by its name, whatever characters are in it."""
    return F.col("`" + name.replace("`", "``") + "`")
