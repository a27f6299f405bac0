"""pydantic's errors in the words of the person who wrote the YAML."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from spark_joinery.metadata.models import BloomFilterSpec, DistributionSpec, HotKeys, JoineryMeta, RangeIndexSpec

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

_MODELS: dict[str, type[BaseModel]] = {
    "distributions": DistributionSpec,
    "bloom_filters": BloomFilterSpec,
    "range_indexes": RangeIndexSpec,
    "hot": HotKeys,
}

_EXPECTED = {
    "dict_type": "an object",
    "model_type": "an object",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "string_too_short": "a name that is not empty",
    "string_type": "a text",
    "too_short": "at least one entry",
}


def describe(error: ValidationError) -> list[str]:
    """List the problems of a declaration.

    Args:
        error: From validating the value of `meta.joinery`.

    Returns:
        One line per problem: "meta.joinery.<key>: <the problem, and the expected value>".
    """
    return [f"{_key(e['loc'])}: {problem(e)}" for e in error.errors()]


def problem(e: ErrorDetails) -> str:
    """Describe the problem of one value, without its place.

    Args:
        e: One of the errors of a `ValidationError`.

    Returns:
        The problem, and the expected value.

    Example:
        >>> try:
        ...     BloomFilterSpec(keys=[])
        ... except ValidationError as error:
        ...     problem(error.errors()[0])
        'expected at least one entry, found list []'
    """
    if e["type"] == "extra_forbidden":
        return _unknown_key(e["loc"])
    if e["type"] == "missing":
        return "missing"
    if e["type"] == "value_error":
        return str(e["ctx"]["error"])
    expected = _EXPECTED.get(e["type"]) or e["msg"].replace("Input should be ", "a number ")
    return f"expected {expected}, found {_shown(e['input'])}"


def _key(loc: tuple[str | int, ...]) -> str:
    """`("distributions", 0, "quantiles")` as `meta.joinery.distributions[0].quantiles`."""
    return "meta.joinery" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)


def _unknown_key(loc: tuple[str | int, ...]) -> str:
    """Name the known keys, and the one that was probably meant."""
    parents = [part for part in loc[:-1] if isinstance(part, str)]
    model = _MODELS[parents[-1]] if parents else JoineryMeta
    near = difflib.get_close_matches(str(loc[-1]), model.model_fields, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"unknown key, expected one of {', '.join(model.model_fields)}{hint}"


def _shown(value: object) -> str:
    """A value for a message, cut to a readable length."""
    text = repr(value)
    return f"{type(value).__name__} {text[:57] + '...' if len(text) > 60 else text}"
