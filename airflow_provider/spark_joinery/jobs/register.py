"""Distributions as views of the catalog, for SQL, the dbt macros and tests."""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_joinery.cause import one_line
from spark_joinery.errors import JoineryError
from spark_joinery.metadata import ArtifactRequest, RelationNameError, artifact_table_name, quote_name, split_name
from spark_joinery.store import ArtifactVersion


class RegisterError(JoineryError):
    """The version is in the store and in use, but its view cannot be created."""


class SchemaNameError(JoineryError):
    """The name of the schema for views is not a valid one."""


def register(
    spark: SparkSession, request: ArtifactRequest, version: ArtifactVersion, schema: str, *, create: bool = True
) -> str:
    """Point the view of a distribution at a version.

    Readers see the former version or the new one, as a view is replaced as a whole.

    Args:
        spark: A session.
        request: The request for a distribution.
        version: The version to show.
        schema: Schema of the view, created if missing.
        create: False to only return the name.

    Returns:
        The quoted name of the view.

    Raises:
        RegisterError: If the schema or the view cannot be created.
    """
    name = view_name(request, schema)
    if not create:
        return name
    comment = f"Joinery: skew distribution of {request.relation}, built {version.description['built_at']}"
    try:
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {quote_name(*split_name(schema))}")
        spark.sql(f"CREATE OR REPLACE VIEW {name} COMMENT {_literal(comment)} AS {_query(version)}")
    except PySparkException as error:
        raise RegisterError(
            f"Version {version.name} is in the store, but the view {name} could not be created: {one_line(error)}"
        ) from error
    return name


def is_registered(spark: SparkSession, request: ArtifactRequest, version: ArtifactVersion, schema: str) -> bool:
    """Whether the view of a distribution exists and shows a version.

    The view may show another version. Specifications that only differ in `quantiles` or `hot` share one view. The
    stores of one catalog share it, too. A version may also have been published although its view could not be created.

    Args:
        spark: A session.
        request: The request for a distribution.
        version: The version to show.
        schema: Schema of the view.

    Returns:
        Whether it does. False if the catalog does not tell, because creating the view once more does no harm.
    """
    name = view_name(request, schema)
    if not spark.catalog.tableExists(name):
        return False
    try:
        rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    except PySparkException:
        # not every catalog describes its views
        return False
    return ("View Text", _query(version)) in {(row["col_name"], row["data_type"]) for row in rows}


def view_name(request: ArtifactRequest, schema: str) -> str:
    """The quoted name of a distribution's view.

    Args:
        request: The request for a distribution.
        schema: Schema of the view.

    Raises:
        SchemaNameError: If the schema has no such name.
    """
    try:
        parts = split_name(schema)
    except RelationNameError:
        raise SchemaNameError(
            f"'{schema}' cannot be the schema of the view of a distribution: expected [catalog.]schema, odd parts in "
            "backticks."
        ) from None
    return quote_name(*parts, artifact_table_name(request))


def _query(version: ArtifactVersion) -> str:
    """The text of a view that shows a version."""
    path = version.data_path.replace("`", "``")
    return f"SELECT * FROM parquet.`{path}`"


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
