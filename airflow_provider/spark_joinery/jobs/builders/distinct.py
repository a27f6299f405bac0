"""Distinct counts that add up over versions, by HLL sketches of Apache DataSketches."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

_LG_K = 14
# 1.04 / sqrt(2^14)
RELATIVE_ERROR = 0.0082
# The field of `version.json` that holds the sketch, at most 22 kB of base64.
FIELD = "distinct_sketch"


def distinct_sketch(hashes: Column, base: Mapping[str, Any] | None) -> Column:
    """Sketch the distinct values of a column, together with those of an earlier version.

    Args:
        hashes: A column of hashes.
        base: The `version.json` of the earlier version; None if there is none.

    Returns:
        An aggregation: the sketch as bytes.
    """
    sketch = F.hll_sketch_agg(hashes, F.lit(_LG_K))
    if base is None:
        return sketch
    return F.hll_union(sketch, F.lit(bytearray(base64.b64decode(base[FIELD]))))


def as_field(sketch: bytes) -> dict[str, str]:
    """The entry for `version.json`."""
    return {FIELD: base64.b64encode(sketch).decode()}
