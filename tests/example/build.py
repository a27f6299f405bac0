"""Build the example with dbt in one JVM: `build.py REPORT TARGET:MODE:COMMAND ...`; REPORT gets a JSON line per build.

A program of its own, because a Spark session keeps its jars, and the embedded metastore serves one process at a time.
"""

import io
import json
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path

from dbt.cli.main import dbtRunner

report = Path(sys.argv[1])
for build in sys.argv[2:]:
    target, mode, command = build.split(":")
    started = time.monotonic()
    output = io.StringIO()
    with redirect_stdout(output):
        outcome = dbtRunner().invoke(
            ["--no-use-colors", command, "--target", target, "--vars", json.dumps({"joinery_mode": mode})]
        )
    runs = list(getattr(outcome.result, "results", None) or [])
    models = [run for run in runs if run.node.resource_type == "model"]
    line = {
        "success": outcome.success,
        "seconds": time.monotonic() - started,
        "output": output.getvalue() + str(outcome.exception or ""),
        "models": {run.node.name: str(run.status) for run in models},
        "sql": {run.node.name: run.node.compiled_code for run in models},
        "tests": {run.node.name: str(run.status) for run in runs if run.node.resource_type == "test"},
    }
    with report.open("a") as lines:
        lines.write(json.dumps({"build": build, **line}) + "\n")
