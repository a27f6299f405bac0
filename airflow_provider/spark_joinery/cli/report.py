"""`joinery report`: what the artifact store holds, as one HTML page."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import click

from spark_joinery.cause import one_line, refusal
from spark_joinery.cli.opened_store import require_folder
from spark_joinery.cli.options import CannotStartError, conf_option, select_option, store_option, warehouse_option
from spark_joinery.cli.session import QUIET, local_confs
from spark_joinery.errors import JoineryError
from spark_joinery.text import number


@click.command()
@store_option
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default="joinery-report.html",
    show_default=True,
    help="The page; a former one is replaced.",
)
@select_option
@click.option("--redact", is_flag=True, help="Hide values of keys, of order columns and in conditions.")
@warehouse_option
@conf_option
def report(
    store: str | None, output: Path, names: tuple[str, ...], redact: bool, warehouse: Path | None, confs: dict[str, str]
) -> None:
    """Show the artifacts of a store on one HTML page: skew, sizes and ages.

    The page needs nothing else, so it can be mailed. Unless its values are hidden by --redact, only its owner may read
    the file. The page says whether filters and indexes are valid now if the session sees their sources: name the
    metastore by --warehouse or --conf. The exit code is 2 if the page could not be made.
    """
    if not output.absolute().parent.is_dir():  # checked now, rather than after everything has been read
        raise CannotStartError(f"{output} cannot be written: there is no folder {output.absolute().parent}.")
    try:
        artifacts = run(store, output, names, redact, {**local_confs(warehouse), **confs})
    except JoineryError as error:
        raise CannotStartError(str(error)) from error
    except OSError as error:
        raise CannotStartError(f"{output} cannot be written: {refusal(error)}.") from error
    if artifacts:
        click.echo(
            f"{output}: {artifacts} artifact{'s' if artifacts > 1 else ''}, {number(output.stat().st_size)} bytes"
        )
    else:
        click.echo(f"{output}: the store is empty; `joinery refresh` fills it")


def run(store: str | None, output: Path, names: tuple[str, ...], redacted: bool, confs: dict[str, str]) -> int:
    """Start Spark, read the store, and write the page.

    Args:
        store: Root of the store; None for the conf.
        output: The page.
        names: Relations to show; none means all.
        redacted: Hide the source's values.
        confs: Spark settings.

    Returns:
        How many artifacts it shows.

    Raises:
        JoineryError: If no store is named or it cannot be read, or something needed is not installed or not there.
        OSError: If the page cannot be written.
    """
    from rich.console import Console

    from spark_joinery.jobs import build_session, stop_session
    from spark_joinery.jobs.session import CATALOG, CONNECTION_URL, METASTORE_URIS
    from spark_joinery.report import read_report, redact, render, write
    from spark_joinery.report.plots import require_matplotlib
    from spark_joinery.store import StoreError, open_store

    require_matplotlib()
    # a problem of one artifact is on the page; its stack trace is for `logging` users, not for the terminal
    logging.getLogger("spark_joinery").addHandler(logging.NullHandler())
    settings = QUIET
    with Console(stderr=True).status("reading the store"), tempfile.TemporaryDirectory(prefix="joinery-") as scratch:
        if not confs.keys() & {CONNECTION_URL, METASTORE_URIS}:
            # No metastore is named. The default, an embedded one, could be locked by another process. The catalog in
            # memory makes a folder, too, which would be in the working directory.
            settings = settings | {CATALOG: "in-memory", "spark.sql.warehouse.dir": scratch}
        spark = build_session("joinery report", {**settings, **confs})
        try:
            opened = open_store(spark, store)
            require_folder(opened)
            found = read_report(spark, opened, names)
        except OSError as error:
            raise StoreError(f"The artifact store cannot be used: {one_line(error)}") from error
        finally:
            stop_session(spark)
        write(render(redact(found) if redacted else found), output, private=not redacted)
    return len(found.artifacts)
