"""The job that refreshes bloom filters, as a program.

    spark-submit --master yarn bloom_filter.py --manifest target/manifest.json --store s3a://warehouse/joinery
    python -m spark_joinery.jobs.bloom_filter --manifest target/manifest.json --store /data/joinery

Prints one JSON object per artifact. Exit code: 0 if none failed, 1 if one failed, 2 if the job could not start. The
function behind it is `spark_joinery.jobs.refresh_artifact`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from spark_joinery.jobs.program import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job.

    Args:
        arguments: Command line, by default that of the process.

    Returns:
        The exit code.
    """
    return run("bloom_filter", arguments)


if __name__ == "__main__":
    sys.exit(main())
