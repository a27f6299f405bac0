"""The job that refreshes range indexes, as a program.

    spark-submit --master yarn range_index.py --manifest target/manifest.json --store s3a://warehouse/joinery
    python -m spark_joinery.jobs.range_index --manifest target/manifest.json --store /data/joinery

`spark_joinery.jobs.program` describes its output. The function behind it is `spark_joinery.jobs.refresh_artifact`.
"""

from __future__ import annotations

import sys
from functools import partial

from spark_joinery.jobs.program import run

main = partial(run, "range_index")

if __name__ == "__main__":
    sys.exit(main())
