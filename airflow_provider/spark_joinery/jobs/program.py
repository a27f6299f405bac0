"""What the jobs have in common as programs, for spark-submit and schedulers other than Airflow."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from spark_joinery.errors import JoineryError
from spark_joinery.jobs.runner import DEFAULT_SCHEMA, RefreshResult, refresh
from spark_joinery.jobs.selection import select
from spark_joinery.jobs.session import build_session, stop_session
from spark_joinery.metadata import Kind, read_manifest
from spark_joinery.store import open_store


def run(kind: Kind, arguments: Sequence[str] | None = None) -> int:
    """Refresh all declared artifacts of one kind; print one JSON object per artifact.

    Args:
        kind: Kind of artifact.
        arguments: Command line, by default that of the process.

    Returns:
        The exit code: 0 if none failed, 1 if one did, 2 if the job could not start.
    """
    parser = argparse.ArgumentParser(description=f"Refresh what a dbt project declares: {kind}.")
    parser.add_argument("--manifest", required=True, help="dbt's target/manifest.json")
    parser.add_argument("--store", help="folder or URI of the artifact store; default: spark.joinery.store")
    parser.add_argument("--schema", default=DEFAULT_SCHEMA, help="schema of the registered views (%(default)s)")
    parser.add_argument("--select", action="append", default=[], metavar="NAME", help="only these relations")
    parser.add_argument("--full-refresh", action="store_true", help="read everything, also what is not new")
    options = parser.parse_args(arguments)
    try:
        requests = select(read_manifest(options.manifest).requests, options.select, [kind])
        spark = build_session(f"joinery {kind}", {})
        store = open_store(spark, options.store)
    except JoineryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    results = refresh(
        spark, requests, store, schema=options.schema, full_refresh=options.full_refresh, on_result=_print
    )
    stop_session(spark)
    return 1 if any(result.status == "failed" for result in results) else 0


def _print(result: RefreshResult) -> None:
    print(json.dumps(asdict(result)), flush=True)
