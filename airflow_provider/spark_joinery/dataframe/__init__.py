"""Joins that take DataFrames and give a DataFrame, in classic sessions and over Spark Connect."""

from __future__ import annotations

from spark_joinery.dataframe._last_join import last_join
from spark_joinery.dataframe._range_join import range_join

__all__ = ["last_join", "range_join"]
