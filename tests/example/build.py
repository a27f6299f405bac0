"""Build the example as the demo does, and again: `build.py REPORT` writes a JSON line per `TARGET:MODE:COMMAND`.

This is a separate program because the embedded metastore serves one process at a time. Both sessions of the demo run
one after the other in its JVM: first the one with the extension, then the one without.
"""

import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models_example"))

from pipeline import spark_session
from settings import demo_home

FIRST = "extension:extension:build --exclude-resource-type test --select +airline_punctuality"
# Without the jar, overtaken_flights tries a billion pairs for minutes, so only the demo runs it.
SESSIONS = {
    # the first build creates the tables, the second one replaces them or adds to them, and runs the tests
    True: [FIRST, "extension:extension:build"],
    False: [
        "portable:extension:build",
        "portable:portable:build --exclude overtaken_flights+",
        "portable:portable:compile --select path:plain overtaken_flights",
    ],
}


def dbt(build: str) -> dict[str, object]:
    """Run one dbt command and return its outcome."""
    target, mode, command = build.split(":", 2)
    options = ["--no-use-colors", *command.split(), "--target", target, "--vars", json.dumps({"joinery_mode": mode})]
    output = io.StringIO()
    with redirect_stdout(output):
        outcome = dbtRunner().invoke(options)
    runs = list(getattr(outcome.result, "results", None) or [])
    models = [run for run in runs if run.node.resource_type in ("model", "analysis")]
    return {
        "build": build,
        "success": outcome.success,
        "output": output.getvalue() + str(outcome.exception or ""),
        "models": {run.node.name: str(run.status) for run in models},
        "sql": {run.node.name: run.node.compiled_code for run in models},
        "tests": {run.node.name: str(run.status) for run in runs if run.node.resource_type == "test"},
    }


def plans(spark: SparkSession, built: dict[str, object]) -> dict[str, str]:
    """The plan of every model's SQL in this session."""
    queries = built["sql"]
    assert isinstance(queries, dict)
    return {name: spark.sql(f"EXPLAIN {sql}").collect()[0][0] for name, sql in queries.items()}


home = demo_home()
(home / "logs").mkdir(exist_ok=True)
assert dbtRunner().invoke(["deps"]).success
for extension, builds in SESSIONS.items():
    with spark_session(home, extension=extension) as session, Path(sys.argv[1]).open("a") as report:
        for name in builds:
            built = dbt(name)
            shown = {} if name == FIRST else plans(session, built)
            print(json.dumps({**built, "plans": shown}), file=report)
