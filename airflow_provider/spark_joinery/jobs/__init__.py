"""PySpark jobs that precompute what the jar and the macros read: they run wherever Spark runs, without the jar too."""

from spark_joinery.jobs.metastore import MetastoreLockedError, ensure_metastore_free
from spark_joinery.jobs.runner import RefreshError, RefreshResult, refresh, refresh_distribution
from spark_joinery.jobs.session import build_session
from spark_joinery.jobs.skew import ColumnMissingError, ColumnUnusableError

__all__ = [
    "ColumnMissingError",
    "ColumnUnusableError",
    "MetastoreLockedError",
    "RefreshError",
    "RefreshResult",
    "build_session",
    "ensure_metastore_free",
    "refresh",
    "refresh_distribution",
]
