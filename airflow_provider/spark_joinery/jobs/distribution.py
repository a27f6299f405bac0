"""The skew distribution job as a program, for spark-submit and schedulers other than Airflow.

    spark-submit --master yarn distribution.py --manifest target/manifest.json --store s3a://warehouse/joinery
    python -m spark_joinery.jobs.distribution --manifest target/manifest.json --store /data/joinery

Prints one JSON object per artifact. Exit code: 0 if all were refreshed or skipped, 1 if one failed, 2 if the job could
not start.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from spark_joinery.errors import JoineryError
from spark_joinery.jobs.runner import DEFAULT_SCHEMA, RefreshResult, refresh, refresh_distribution
from spark_joinery.jobs.selection import select
from spark_joinery.jobs.session import build_session
from spark_joinery.metadata import read_manifest
from spark_joinery.store import open_store

__all__ = ["main", "refresh_distribution"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job.

    Args:
        arguments: Command line, by default that of the process.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="spark_joinery.jobs.distribution", description="Refresh skew distributions.")
    parser.add_argument("--manifest", required=True, help="dbt's target/manifest.json")
    parser.add_argument("--store", help="folder or URI of the artifact store; default: spark.joinery.store")
    parser.add_argument("--schema", default=DEFAULT_SCHEMA, help="schema of the registered views (%(default)s)")
    parser.add_argument("--select", action="append", default=[], metavar="NAME", help="only these relations")
    options = parser.parse_args(arguments)
    try:
        requests = select(read_manifest(options.manifest).requests, options.select)
        spark = build_session("joinery distribution", {})
        store = open_store(spark, options.store)
    except JoineryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    distributions = [request for request in requests if request.kind == "distribution"]
    results = refresh(spark, distributions, store, schema=options.schema, on_result=_print)
    spark.stop()
    return 1 if any(result.status == "failed" for result in results) else 0


def _print(result: RefreshResult) -> None:
    print(json.dumps(asdict(result)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
