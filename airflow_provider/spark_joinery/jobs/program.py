"""Run a job as a program, for spark-submit and schedulers other than Airflow."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

import click

from spark_joinery.cli.options import (
    full_refresh_option,
    manifest_option,
    schema_option,
    select_option,
    store_option,
)
from spark_joinery.errors import JoineryError
from spark_joinery.jobs.runner import RefreshResult, refresh
from spark_joinery.jobs.session import build_session, stop_session
from spark_joinery.metadata import Kind, read_manifest, select
from spark_joinery.store import open_store


def run(kind: Kind, arguments: Sequence[str] | None = None) -> int:
    """Refresh all declared artifacts of one kind; print one JSON object per artifact.

    Args:
        kind: Kind of artifact.
        arguments: Command line, by default that of the process.

    Returns:
        The exit code: 0 if none failed, 1 if one did, 2 if the job could not start.
    """

    @click.command(help=f"Refresh what a dbt project declares: {kind}.")
    @manifest_option
    @store_option
    @schema_option
    @select_option
    @full_refresh_option
    def command(manifest: str, store: str | None, schema: str, names: tuple[str, ...], full_refresh: bool) -> None:
        sys.exit(_refresh(kind, manifest, store, schema, names, full_refresh))

    try:
        command(arguments)
    except SystemExit as end:  # click ends a program by itself, after --help and wrong arguments too
        return end.code if isinstance(end.code, int) else 0
    return 0


def _refresh(
    kind: Kind, manifest: str, store: str | None, schema: str, names: tuple[str, ...], full_refresh: bool
) -> int:
    try:
        requests = select(read_manifest(manifest).requests, names, [kind])
        spark = build_session(f"joinery {kind}", {})
        opened = open_store(spark, store)
    except JoineryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    results = refresh(spark, requests, opened, schema=schema, full_refresh=full_refresh, on_result=_print)
    stop_session(spark)
    return 1 if any(result.status == "failed" for result in results) else 0


def _print(result: RefreshResult) -> None:
    print(json.dumps(asdict(result)), flush=True)
