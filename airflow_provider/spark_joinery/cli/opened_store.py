"""Open the artifact store for a command: without Spark if possible, as Spark takes seconds to start."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from spark_joinery.cause import one_line
from spark_joinery.cli.options import CannotStartError
from spark_joinery.cli.session import QUIET, spark_session
from spark_joinery.errors import JoineryError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_joinery.store import ArtifactStore

# Schemes that pyarrow reaches with the usual credentials of programs outside Spark.
_BY_PYARROW = frozenset({"s3", "s3a", "s3n", "gs", "abfs", "abfss"})
# If this is set, a path without a scheme may be on HDFS.
_DEFAULT = "spark.hadoop.fs.defaultFS"


class OpenedStore:
    """A store, and Spark if something needs it: most commands run for less time than Spark takes to start."""

    def __init__(self, store: str | None, confs: dict[str, str], with_tables: bool, stack: ExitStack) -> None:
        """See `opened_store`."""
        self._confs = confs
        self._with_tables = with_tables
        self._stack = stack
        self._spark: SparkSession | None = None
        self.store = self._open(store or confs.get("spark.joinery.store"))

    def _open(self, root: str | None) -> ArtifactStore:
        from spark_joinery.store import ArrowFileSystem, ArtifactStore, open_store

        if root and self.is_near(root):
            store = ArtifactStore(root, ArrowFileSystem())
            try:
                store.filesystem.status(store.root)
                return store
            except OSError:
                # only Spark may be configured for a bucket; a local path fails for Spark, too
                if store.root.startswith("file:"):
                    raise
        return open_store(self.spark, root)

    @property
    def spark(self) -> SparkSession:
        """A session, started when it is first asked for."""
        if self._spark is None:
            self._spark = self._stack.enter_context(_session(self._confs, self._with_tables))
        return self._spark

    def is_near(self, path: str) -> bool:
        """Whether a path leads to the same files without Spark as it does with Spark."""
        named = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", path)
        if named is None:
            return not os.environ.get("HADOOP_CONF_DIR") and _DEFAULT not in self._confs
        scheme = named[1].lower()
        has_settings = any(key.startswith("spark.hadoop.fs.") for key in self._confs)
        return scheme == "file" or (scheme in _BY_PYARROW and not has_settings and _has_pyarrow())


@contextmanager
def opened_store(
    store: str | None, confs: dict[str, str], *, with_tables: bool = False, is_required: bool = True
) -> Iterator[OpenedStore]:
    """Open a store.

    Args:
        store: Its root; None for `spark.joinery.store`.
        confs: Spark settings, in case Spark is needed.
        with_tables: Whether Spark is to find the tables that `joinery refresh` finds.
        is_required: True if a store that does not exist is an error.

    Yields:
        The store, and Spark on demand, which is stopped afterwards.

    Raises:
        CannotStartError: If a required store does not exist, or the store cannot be read.
    """
    with ExitStack() as stack:
        try:
            opened = OpenedStore(store, confs, with_tables, stack)
            if is_required:
                require_folder(opened.store)
            yield opened
        except JoineryError as error:
            raise CannotStartError(str(error)) from error
        except OSError as error:
            raise CannotStartError(f"The artifact store cannot be used: {one_line(error)}") from error


def require_folder(store: ArtifactStore) -> None:
    """Raise an error if a store does not exist, rather than show it as empty: its name may be mistyped.

    Args:
        store: The store.

    Raises:
        JoineryError: If its root is no folder.
        OSError: If the file system cannot say so.
    """
    status = store.filesystem.status(store.root)
    if status is None:
        raise JoineryError(f"{store.root} does not exist; `joinery refresh` creates it.")
    if not status.is_folder:
        raise JoineryError(f"{store.root} is a file: an artifact store is a folder.")


@contextmanager
def _session(confs: dict[str, str], with_tables: bool) -> Iterator[SparkSession]:
    """Start Spark, and show on the terminal that it starts."""
    from rich.console import Console

    # on standard error, so that --json can be piped
    with Console(stderr=True).status("starting Spark"), ExitStack() as stack:
        if with_tables:
            from spark_joinery.jobs import build_session, stop_session

            spark = build_session("joinery", {**QUIET, **confs})
            stack.callback(stop_session, spark)
        else:
            spark = stack.enter_context(spark_session(confs))
        rest = stack.pop_all()
    with rest:
        yield spark


def _has_pyarrow() -> bool:
    return find_spec("pyarrow") is not None
