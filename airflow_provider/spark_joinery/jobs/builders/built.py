"""Errors, results and column names that the builders of all kinds share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_joinery.errors import JoineryError
from spark_joinery.metadata import Spec

# Fields that name columns, in the specifications of all kinds.
_NAMES_COLUMNS = ("partition_by", "order_by", "keys", "start", "end", "point", "columns")


class ColumnMissingError(JoineryError):
    """A specification names a column that the relation does not have."""


class ColumnUnusableError(JoineryError):
    """A column's name or type does not allow the artifact."""


class DriftError(Exception):
    """Rows cannot be added to the former version: all rows must be read. The message is the reason."""


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
    """Find columns by name, case-sensitive or not, as the session is.

    Args:
        frame: The relation.
        wanted: Names of columns.
        relation: Name of the relation in errors.

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
    """Spell the columns of a specification as the relation does.

    Args:
        frame: The relation.
        spec: The specification, as declared.
        relation: Name of the relation in errors.

    Returns:
        The specification to store with a version. The jar compares its names with the source's letter by letter.

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
    """A column by its name, which may have any characters."""
    return F.col("`" + name.replace("`", "``") + "`")
