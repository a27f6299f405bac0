"""Checks of the arguments that all joins have. Every message begins with `caller`, the name of the join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spark_joinery.dataframe._session import is_connect
from spark_joinery.errors import InvalidArgumentError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def check_frames(caller: str, left: object, right: object) -> None:
    """Raise an error unless both are DataFrames, and both classic or both of Spark Connect."""
    from pyspark.sql import DataFrame

    for name, frame in (("left", left), ("right", right)):
        if not isinstance(frame, DataFrame):
            raise InvalidArgumentError(f"{caller}: {name} must be a DataFrame, not {kind(frame)}.")
    if is_connect(left) != is_connect(right):
        raise InvalidArgumentError(f"{caller}: left and right must come from the same Spark session.")


def read_on(caller: str, on: object) -> Any:
    """Return `on` as a list of column names or as a Column."""
    from pyspark.sql import Column

    if isinstance(on, str):
        return [on]
    if isinstance(on, Column):
        return on
    if not isinstance(on, Sequence):
        raise InvalidArgumentError(
            f"{caller}: on must be a column name, a list of column names or a Column, not {kind(on)}."
        )
    if not on:
        raise InvalidArgumentError(f"{caller}: on is an empty list; name at least one column.")
    for name in on:
        if isinstance(name, Column):
            raise InvalidArgumentError(f"{caller}: combine conditions with &, as in on=(a == b) & (c <= d).")
        if not isinstance(name, str):
            raise InvalidArgumentError(f"{caller}: the list given as on must hold column names, not {kind(name)}.")
    return list(on)


def key_names(frame: DataFrame, on: Any) -> Any:
    """Remove the backquotes of names of columns: Spark's USING takes them for a part of the name."""
    return [_without_quotes(frame, name) for name in on] if isinstance(on, list) else on


def _without_quotes(frame: DataFrame, name: str) -> str:
    is_quoted = len(name) > 2 and name[0] == name[-1] == "`"
    return name[1:-1].replace("``", "`") if is_quoted and name not in frame.columns else name


def column_term(frame: DataFrame, term: Any) -> Any:
    """Quote the name of a column with a dot, which Spark would take for a field; leave other terms alone."""
    # the names of columns may cost a round trip
    is_dotted = isinstance(term, str) and "." in term
    return quoted(term) if is_dotted and term in frame.columns else term


def quoted(name: str) -> str:
    """The name of a column as Spark's parser reads it back."""
    return "`" + name.replace("`", "``") + "`"


def check_choice(caller: str, argument: str, value: object, choices: Sequence[str]) -> None:
    """Raise an error unless the value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidArgumentError(f"{caller}: {argument} must be one of {', '.join(choices)}, not {kind(value)}.")


def kind(value: object) -> str:
    """A value as messages show it, with its type."""
    return "None" if value is None else f"{type(value).__name__} ({value!r:.60})"
