"""What the commands about the artifact store have in common."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spark_joinery.cause import one_line
from spark_joinery.cli.session import spark_session
from spark_joinery.errors import JoineryError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_joinery.store import ArtifactStore

store_option = click.option(
    "--store", help="Folder or URI of the artifact store; by default the conf spark.joinery.store."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
select_option = click.option(
    "--select", "names", multiple=True, metavar="NAME", help="Only this relation; may be repeated."
)
warehouse_option = click.option(
    "--warehouse", type=click.Path(path_type=Path), help="Local Spark: folder of warehouse and metastore."
)

# Schemes that pyarrow reaches with the credentials that are usual outside Spark, too.
_WITHOUT_SPARK = frozenset({"file", "s3", "s3a", "s3n", "gs", "abfs", "abfss"})
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class Duration(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A number and a unit: 90s, 30m, 12h, 7d, 2w."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, (int, float)):
            return float(value)
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", str(value).strip())
        if match is None:
            self.fail(f"{value!r} is not a duration: expected a number and s, m, h, d or w, as in 12h", param, ctx)
        return float(match[1]) * _UNITS[match[2]]


class CannotStartError(click.ClickException):
    """Nothing was done, in contrast to exit code 1: something was tried and failed."""

    exit_code = 2


class Workplace:
    """A store, and Spark if something needs it: it takes longer to start than most commands to run."""

    def __init__(self, store: str | None, confs: dict[str, str], with_tables: bool, stack: ExitStack) -> None:
        """See `workplace`."""
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
                # a bucket for which only Spark is configured; what is wrong with a local path is so for Spark, too
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
        """Whether a path is reached without Spark as it would be with Spark."""
        scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", path)
        if scheme is None and os.environ.get("HADOOP_CONF_DIR"):
            return False  # there it may mean hdfs:
        has_settings = any(key.startswith("spark.hadoop.fs.") for key in self._confs)
        return (scheme[1].lower() if scheme else "file") in _WITHOUT_SPARK and not has_settings and _has_pyarrow()


@contextmanager
def workplace(store: str | None, confs: dict[str, str], *, with_tables: bool = False) -> Iterator[Workplace]:
    """Open a store that must exist.

    Args:
        store: Its root; None for `spark.joinery.store`.
        confs: Spark settings, in case Spark is needed.
        with_tables: Whether Spark is to find the tables that `joinery refresh` finds.

    Yields:
        The store, and Spark on demand, which is stopped afterwards.

    Raises:
        CannotStartError: If there is no such store, or it cannot be read.
    """
    with ExitStack() as stack:
        try:
            place = Workplace(store, confs, with_tables, stack)
            status = place.store.filesystem.status(place.store.root)
            if status is None or not status.is_folder:
                raise JoineryError(f"{place.store.root} does not exist; `joinery refresh` creates it.")
            yield place
        except JoineryError as error:
            raise CannotStartError(str(error)) from error
        except OSError as error:
            raise CannotStartError(f"The artifact store cannot be used: {one_line(error)}") from error


@contextmanager
def _session(confs: dict[str, str], with_tables: bool) -> Iterator[SparkSession]:
    """Start Spark, with a word to who waits for it."""
    from rich.console import Console

    # on standard error, so that --json can be piped
    with Console(stderr=True).status("starting Spark"), ExitStack() as stack:
        if with_tables:
            from spark_joinery.jobs import build_session, stop_session

            spark = build_session("joinery", {"spark.ui.enabled": "false", "spark.log.level": "ERROR", **confs})
            stack.callback(stop_session, spark)
        else:
            spark = stack.enter_context(spark_session(confs))
        rest = stack.pop_all()
    with rest:
        yield spark


def show_json(value: Any) -> None:
    """Print a result for programs.

    Args:
        value: Made of what JSON has.
    """
    click.echo(json.dumps(value, indent=2))


def show_bytes(count: int | None) -> str:
    """Write a size for people.

    Args:
        count: Bytes; None if unknown.

    Example:
        >>> show_bytes(1536)
        '1.5 KiB'
    """
    if count is None:
        return "-"
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.1f} {unit}" if unit != "B" else f"{count} B"
        size /= 1024
    return f"{size:.1f} TiB"


def show_seconds(seconds: float | None) -> str:
    """Write an age for people.

    Args:
        seconds: The age; None if unknown.

    Example:
        >>> show_seconds(93600)
        '26 h'
    """
    if seconds is None:
        return "-"
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def show_spec(spec: Mapping[str, Any] | None) -> str:
    """Write a specification for people.

    Args:
        spec: The specification; None if unknown.

    Example:
        >>> show_spec({"keys": ["origin", "tailnum"], "fpp": 0.01})
        'keys=origin,tailnum fpp=0.01'
    """

    def text(value: Any) -> str:
        if isinstance(value, Mapping):
            return "{" + " ".join(f"{key}={text(each)}" for key, each in value.items()) + "}"
        return ",".join(map(text, value)) if isinstance(value, list) else str(value)

    return "-" if spec is None else " ".join(f"{key}={text(value)}" for key, value in spec.items())


def show_count(number: int | None) -> str:
    """Write a count for people.

    Args:
        number: The count; None if unknown.
    """
    return "-" if number is None else f"{number:,}"


def _has_pyarrow() -> bool:
    return find_spec("pyarrow") is not None
