"""PySpark jobs that precompute artifacts for the jar and the macros. The jobs themselves do not need the jar."""

from spark_joinery.jobs.builders.built import ColumnMissingError, ColumnUnusableError
from spark_joinery.jobs.metastore import MetastoreLockedError, ensure_metastore_free
from spark_joinery.jobs.register import RegisterError, SchemaNameError
from spark_joinery.jobs.runner import RefreshResult, ViewError, refresh, refresh_artifact
from spark_joinery.jobs.session import build_session, stop_session
from spark_joinery.jobs.source import SourceError

__all__ = [
    "ColumnMissingError",
    "ColumnUnusableError",
    "MetastoreLockedError",
    "RefreshResult",
    "RegisterError",
    "SchemaNameError",
    "SourceError",
    "ViewError",
    "build_session",
    "ensure_metastore_free",
    "refresh",
    "refresh_artifact",
    "stop_session",
]
