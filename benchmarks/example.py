"""Run the models of `models_example` on twenty times the data, each next to its plain-SQL and its portable twin.

`load_sources.py` makes whole copies of the real flights, and moves each departure by up to half an hour. dbt builds the
models with the jar and compiles the twins. The twins are timed in a session without the extension, over the same
tables.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchmarks.common.engines import Run, SparkDigest
from benchmarks.common.spark import Spark, operators
from benchmarks.report import ROOT, Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
COPIES = 20
FLIGHTS = 336_776
EXAMPLE = ROOT / "models_example"
OURS, PORTABLE, PLAIN = "joinery", "portable", "plain SQL"
STOP_AT = 20  # times Joinery's seconds
LONGEST = 120.0  # seconds: a twin gets no longer
SHORTEST = 60.0  # seconds, as in the demo
COLUMNS = ["model", "rows", "way", "seconds", "times Joinery's", "MB shuffled", "operator or remark"]
NOTES = [
    "The settings are those of the example's profile, which the demo has, too: 3 GB, 4 shuffle partitions, Spark's "
    "threshold for broadcasts; the segment tree is on for portable SQL and off for plain SQL, as it is by default.",
    "The second run of each query in a JVM of its own, into the noop sink, all rows and columns; the first sums the "
    "answer up. Portable and plain SQL run in a session without the extension.",
    f"A twin has {STOP_AT} times Joinery's seconds for each of its two runs, at least {SHORTEST:g} s and at most "
    f"{LONGEST:g} s. Then it is stopped: `>`. Its ratio is a lower bound; the answer of one that did not end its first "
    "run is not compared.",
    "The nightly refresh has not run: nothing here reads the artifact store.",
]


class Hashes(SparkDigest):
    """The number of rows, and sums of two hashes over all columns by their names."""

    def spark(self, session: SparkSession, sql: str) -> Any:
        """See `SparkDigest`."""
        names = ", ".join(f"`{name}`" for name in sorted(session.sql(sql).columns))
        hashed = f"SELECT xxhash64({names}) AS h, hash({names}) AS g FROM ({sql})"
        row = session.sql(f"SELECT count(*), sum(h DIV 1048576), sum(g) FROM ({hashed})").first()
        return tuple(int(value or 0) for value in row or ())

    def differ(self, theirs: Any, ours: Any) -> str:
        """See `SparkDigest`."""
        return "" if theirs == ours else f"has {theirs[0]} rows, Joinery {ours[0]}, or other values"


@dataclass
class Ran:
    """The run of a model in one way.

    Args:
        run: The timed run.
        digest: The digest of the answer; None if it was not compared.
    """

    run: Run
    digest: Any = None


def run(scale: float = 1) -> Result:
    """Measure.

    Args:
        scale: Scale of the twenty copies. There is at least one copy.

    Returns:
        Seconds and shuffled bytes of each model and twin. They are not met if answers differ or an operator is missing.
    """
    rows = max(1, round(COPIES * scale)) * FLIGHTS
    with _example() as example, _environment(example, rows) as home:
        sql = _in_a_process({"home": str(home)})
        ran: dict[str, dict[str, Ran]] = {}
        for model in example.timing.OPERATORS:
            ran[model] = {}
            for way in (OURS, PORTABLE, PLAIN):
                limit = None if way == OURS else min(LONGEST, max(SHORTEST, STOP_AT * ran[model][OURS].run.seconds))
                request = {"home": str(home), "way": way, "sql": sql[way][model], "limit": limit}
                done = _in_a_process(request)
                ran[model][way] = Ran(Run(**done["run"]), done["digest"])
                click.echo(f"{model}: {way} {ran[model][way].run.seconds:.1f} s")
    return _result(ran, rows)


def _in_a_process(request: Mapping[str, Any]) -> dict[str, Any]:
    """Serve a request in a separate process.

    Its JVM ends with it, because tasks that join a thousand million pairs do not react to a stop. Also, the embedded
    metastore serves only one JVM.
    """
    command = [sys.executable, "-m", "benchmarks.example", json.dumps(request)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"{request} failed: {process.stdout[-2000:]} {process.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return answer


def _serve(request: Mapping[str, Any]) -> None:
    """Print the SQL of all ways, or the run of one way, as the last line."""
    home = Path(request["home"])
    with _example() as example:
        if "sql" not in request:
            print(json.dumps(_queries(example, home)), flush=True)
            return
        ours = request["way"] == OURS
        with example.spark_session(home, extension=ours) as spark:
            if not ours and example.timing.has_extension(spark):
                raise RuntimeError("the session of portable and plain SQL has the extension")
            settings = example.timing.CONFS["extension" if ours else request["way"].split()[0]]
            done = _measure(Spark(spark, request["sql"], settings, Hashes()), request["limit"])
            print(json.dumps(asdict(done)), flush=True)
            if done.run.stopped:
                os._exit(0)  # the JVM ends as well, even if its tasks run


def _within(limit: float | None, work: Callable[[], T]) -> T | None:
    """Do a piece of work. Leave it running and return None when its time is over."""
    done: list[T] = []
    thread = threading.Thread(target=lambda: done.append(work()), daemon=True)
    thread.start()
    thread.join(limit)
    if thread.is_alive():
        return None
    if not done:
        raise RuntimeError("the query failed, see above")
    return done[0]


@contextmanager
def _example() -> Iterator[Any]:
    """The example's modules, which are single programs and no package."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        import pipeline
        import settings
        import timing

        yield SimpleNamespace(**vars(pipeline), settings=settings, timing=timing)
    finally:
        sys.path.remove(str(EXAMPLE))


@contextmanager
def _environment(example: Any, rows: int) -> Iterator[Path]:
    """Yield the home directory of the example, with this many flights, which are loaded once. Set its environment."""
    from spark_joinery import jar_path

    home = ROOT / "target" / "bench" / f"example-{rows}"
    (home / "logs").mkdir(parents=True, exist_ok=True)
    before = dict(os.environ)
    os.environ.update(example.settings.environment(home, jar_path()))
    try:
        example.run("load", [sys.executable, str(EXAMPLE / "load_sources.py"), "--rows", str(rows)], home)
        yield home
    finally:
        os.environ.clear()
        os.environ.update(before)


def _queries(example: Any, home: Path) -> dict[str, dict[str, str]]:
    """SQL by way and model, over tables that dbt has built with the jar."""
    data = {"flights_schema": "nycflights_large"}
    with example.spark_session(home, extension=True):
        example.dbt("deps", "extension", {})
        # models that others read; the query of a model is timed alone
        built = [
            "--full-refresh",
            "--select",
            "+flights_by_manufacturer",
            "delays",
            "--exclude",
            "flights_by_manufacturer",
        ]
        example.dbt("run", "extension", data | {"joinery_mode": "extension"}, *built)
        compiled = {
            mode: example.dbt("compile", "extension", data | {"joinery_mode": mode}).sql
            for mode in ("extension", "portable")
        }
    models = list(example.timing.OPERATORS)
    return {
        OURS: {model: compiled["extension"][model] for model in models},
        PORTABLE: {model: compiled["portable"][model] for model in models},
        PLAIN: {model: compiled["portable"][f"plain_{model}"] for model in models},
    }


def _measure(engine: Spark, limit: float | None) -> Ran:
    """Run a query twice, each time until the limit, and keep the second run. The first run sums up the answer."""
    checked = _within(limit, engine.check)
    timed = _within(limit, engine.answer) if checked else None
    stopped = Run(limit or 0.0, stopped=True)
    return Ran(run=timed or stopped, digest=checked.digest if checked else None)


def _result(ran: Mapping[str, Mapping[str, Ran]], rows: int) -> Result:
    table, problems = [], []
    for model, ways in ran.items():
        ours = ways[OURS]
        if not operators(ours.run.plan):
            problems.append(f"{model}: no operator of Joinery's")
        for way, one in ways.items():
            sign = "> " if one.run.stopped else ""
            if one.digest is not None and (difference := Hashes().differ(one.digest, ours.digest)):
                problems.append(f"{model}: {way} {difference}")
            if way != OURS and operators(one.run.plan):
                problems.append(f"{model}: {way} ran with an operator of Joinery's")
            table.append([
                model if way == OURS else "",
                f"{ours.digest[0]:,}" if way == OURS else "",
                way,
                f"{sign}{one.run.seconds:.1f}",
                f"{sign}{one.run.seconds / ours.run.seconds:.1f}",
                "" if one.run.stopped else f"{one.run.shuffled:.1f}",
                ", ".join(operators(one.run.plan)) or _remark(one),
            ])  # fmt: skip
    compared = sum(one.digest is not None for ways in ran.values() for one in ways.values()) - len(ran)
    return Result(
        case="example",
        title=f"The models of the example, {rows:,} flights",
        columns=COLUMNS,
        rows=table,
        verdict="; ".join(problems) or f"{compared} answers equal Joinery's, whose operators are in all plans",
        met=not problems,
        notes=NOTES,
        data={
            model: {way: {**asdict(one.run), "plan": ""} for way, one in ways.items()} for model, ways in ran.items()
        },
    )


def _remark(one: Ran) -> str:
    if not one.run.stopped:
        return ""
    return "stopped, answer not compared" if one.digest is None else "stopped in its second run"


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
