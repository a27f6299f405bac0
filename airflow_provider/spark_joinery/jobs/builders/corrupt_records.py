"""Refuse bloom filters about the text of malformed rows.

Spark parses only the columns of CSV, JSON and XML that a query reads. Which rows are malformed depends on them, so a
filter and a query would see different rows. The jar has the same rule (`ParsedText.isCorruptRecord`).
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from spark_joinery.jobs.builders.built import ColumnUnusableError
from spark_joinery.metadata import BloomFilterSpec

_PARSED = frozenset({"csv", "json", "xml"})
_OPTION = "columnnameofcorruptrecord"
_SETTING = "spark.sql.columnNameOfCorruptRecord"


def refuse_corrupt_records(
    frame: DataFrame,
    spec: BloomFilterSpec,
    relation: str,
    provider: str,
    options: str,
    settings: Mapping[str, str | None],
) -> None:
    """Refuse a filter whose keys or predicate read the column of malformed rows.

    Args:
        frame: The relation.
        spec: Keys and predicate.
        relation: Name of the relation in errors.
        provider: Format of its files.
        options: Its options, written as in a source's description.
        settings: Spark's settings by which it is read.

    Raises:
        ColumnUnusableError: If it does.
    """
    if provider not in _PARSED:
        return
    named = dict(option.split("=", 1) for option in options.split(",") if "=" in option)
    name = (named.get(_OPTION) or settings.get(_SETTING) or "_corrupt_record").lower()
    for found in [each for each in frame.columns if each.lower() == name]:
        if spec.where and _reads(frame, spec.where, found):
            what = f"`where: {spec.where}`"
        elif name in map(str.lower, spec.keys):
            what = f"the key '{found}'"
        else:
            continue
        raise ColumnUnusableError(
            f"{relation}: {what} reads '{found}', which has the text of malformed rows. Which rows these are depends "
            "on the columns that a query reads: filter by other columns, or copy the rows to a table of Parquet first."
        )


def _reads(frame: DataFrame, where: str, name: str) -> bool:
    """Whether a predicate on a relation has a meaning with a column and none without."""
    return _has_meaning(frame, where) and not _has_meaning(frame, where, without=name)


def _has_meaning(frame: DataFrame, where: str, without: str | None = None) -> bool:
    """Whether Spark accepts a predicate on some columns of a relation.

    Spark's analyzer finds columns that were dropped from a relation, so an empty relation is asked instead.
    """
    fields = [field for field in frame.schema if field.name != without]
    try:
        frame.sparkSession.createDataFrame([], StructType(fields)).where(where).schema  # noqa: B018
    except AnalysisException:
        return False
    return True
