"""`joinery refresh`: precompute what a dbt project declares."""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spark_joinery.cli.options import (
    CannotStartError,
    cell,
    conf_option,
    full_refresh_option,
    json_option,
    manifest_option,
    schema_option,
    select_option,
    show_json,
    store_option,
    warehouse_option,
)
from spark_joinery.cli.session import QUIET, local_confs
from spark_joinery.errors import JoineryError
from spark_joinery.text import number, printable

if TYPE_CHECKING:
    from spark_joinery.jobs import RefreshResult
    from spark_joinery.metadata import ArtifactRequest, Kind, Spec


KINDS: dict[str, tuple[Kind, ...]] = {
    "all": (),
    "distribution": ("distribution",),
    "bloom": ("bloom_filter",),
    "range-index": ("range_index",),
}


@click.command()
@click.argument("kind", type=click.Choice(list(KINDS)), default="all")
@manifest_option
@store_option
@select_option
@schema_option
@warehouse_option
@full_refresh_option
@click.option("--dry-run", is_flag=True, help="Show what would be refreshed, without starting Spark.")
@json_option
@conf_option
def refresh(
    kind: str,
    manifest: str,
    store: str | None,
    names: tuple[str, ...],
    schema: str,
    warehouse: Path | None,
    full_refresh: bool,
    dry_run: bool,
    as_json: bool,
    confs: dict[str, str],
) -> None:
    """Precompute what the dbt project declares in meta.joinery: KIND, or all of it.

    A refresh reads only rows that are new since the last one. The exit code is 0 if nothing failed, 1 if something
    did, 2 if nothing could be started.
    """
    from spark_joinery.metadata import read_manifest, select

    if not dry_run:
        # reports a missing pyspark before any error of the manifest
        import_module("spark_joinery.jobs")
    try:
        requests = select(read_manifest(manifest).requests, names, KINDS[kind])
        if dry_run:
            show_plan(requests, schema, as_json)
            return
        results = run(requests, store, schema, {**local_confs(warehouse), **confs}, full_refresh)
    except JoineryError as error:
        raise CannotStartError(str(error)) from error
    show_results(results, as_json)
    sys.exit(1 if any(result.status == "failed" for result in results) else 0)


def run(
    requests: list[ArtifactRequest], store: str | None, schema: str, confs: dict[str, str], full_refresh: bool
) -> list[RefreshResult]:
    """Start Spark and refresh, with a progress bar on the terminal.

    Args:
        requests: The artifacts to refresh.
        store: Root of the store; None for the conf.
        schema: Schema of the registered views.
        confs: Spark settings.
        full_refresh: Read everything, even if little or nothing is new.

    Returns:
        One result per request.

    Raises:
        JoineryError: If the metastore is locked, or no store is named.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from spark_joinery.jobs import build_session, stop_session
    from spark_joinery.jobs import refresh as run_jobs
    from spark_joinery.store import open_store

    # a failure is one line of the summary; its stack trace is for `logging` users, not for the terminal
    logging.getLogger("spark_joinery").addHandler(logging.NullHandler())
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # on standard error, so that --json can be piped
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("starting Spark", total=len(requests))
        spark = build_session("joinery refresh", {**QUIET, **confs})
        try:
            opened = open_store(spark, store)
            progress.update(task, description="refreshing")
            return run_jobs(
                spark,
                requests,
                opened,
                schema=schema,
                full_refresh=full_refresh,
                on_result=lambda result: progress.update(task, advance=1, description=printable(result.relation)),
            )
        finally:
            stop_session(spark)


def show_plan(requests: list[ArtifactRequest], schema: str, as_json: bool) -> None:
    """Print what would be refreshed.

    Args:
        requests: The requests.
        schema: Schema of the registered views.
        as_json: Print JSON instead of a table.
    """
    from rich.console import Console
    from rich.table import Column, Table

    from spark_joinery.metadata import artifact_table_name

    rows = [
        {
            "relation": request.relation,
            "kind": request.kind,
            "spec": request.spec.model_dump(mode="json", exclude_none=True),
            "table": f"{schema}.{artifact_table_name(request)}" if request.kind == "distribution" else None,
        }
        for request in requests
    ]
    if as_json:
        show_json(rows)
        return
    # texts that may be long get the width that the other columns leave
    folded = (Column(name, overflow="fold") for name in ("columns", "view"))
    columns = (Column("kind", no_wrap=True), Column("relation", overflow="fold"), *folded)
    table = Table(*columns, title="would refresh", title_justify="left")
    for request in requests:
        view = f"{schema}.{artifact_table_name(request)}" if request.kind == "distribution" else "-"
        table.add_row(cell(request.kind), *map(cell, (request.relation, spec_in_words(request.spec), view)))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def spec_in_words(spec: Spec) -> str:
    """Describe an artifact in the words of `meta.joinery`: its columns first, then its other arguments."""
    values = spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return "; ".join(f"{name}: {_in_words(value)}" for name, value in values.items())


def _in_words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    return value if isinstance(value, str) else json.dumps(value)


def show_results(results: list[RefreshResult], as_json: bool) -> None:
    """Print the result of each request.

    Args:
        results: The results.
        as_json: Print JSON instead of a table.
    """
    from rich.console import Console
    from rich.table import Column, Table

    if as_json:
        show_json([asdict(result) for result in results])
        return
    colours = {"refreshed": "green", "unchanged": "green", "skipped": "yellow", "failed": "red"}
    # texts that may be long get the width that the other columns leave
    words = (Column(name, no_wrap=True) for name in ("kind", "status", "read"))
    numbers_of = (Column(name, justify="right", no_wrap=True) for name in ("rows", "keys", "hot", "s"))
    table = Table(Column("relation", overflow="fold"), *words, *numbers_of, Column("view or reason", overflow="fold"))
    for result in results:
        numbers = (result.rows, result.keys, result.hot_keys)
        table.add_row(
            cell(result.relation),
            result.kind,
            cell(result.status, colours[result.status]),
            {"full": "all", "incremental": "new", None: "-"}[result.mode],
            *map(number, numbers),
            f"{result.seconds:.1f}",
            cell(result.reason or result.table or "-"),
        )
    # a log has no width to keep to
    Console(width=None if sys.stdout.isatty() else 160).print(table)
