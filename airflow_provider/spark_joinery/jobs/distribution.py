"""The job that refreshes skew distributions, as a program.

    spark-submit --master yarn distribution.py --manifest target/manifest.json --store s3a://warehouse/joinery
    python -m spark_joinery.jobs.distribution --manifest target/manifest.json --store /data/joinery

`spark_joinery.jobs.program` describes its output. The function behind it is `spark_joinery.jobs.refresh_artifact`.
"""

from __future__ import annotations

import sys
from functools import partial

from spark_joinery.jobs.program import run

main = partial(run, "distribution")

if __name__ == "__main__":
    sys.exit(main())
