"""This jar against the jar of another commit: `make bench-against REV=186fffe`.

A change may make an operator slower and still keep its bounds against peers. Here Joinery's own queries of the LAST
JOIN and window cases run in two JVMs in turn, one with each jar, so that other work of the machine meets both.
"""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.common.spark import Spark, operators, register, session
from benchmarks.last_join import data as joined
from benchmarks.last_join import keyless, large, multi, point_in_time, skew
from benchmarks.last_join import queries as joins
from benchmarks.report import ROOT, Result, show, write
from benchmarks.window import article, small
from benchmarks.window import data as windowed
from benchmarks.window import queries as windows
from benchmarks.window import range as range_frames
from benchmarks.window import skew as hot_key

AT_LEAST = 0.97  # of the other jar's speed
PAIRS = 2  # of JVMs
WARM_UP = 3
ROUNDS = 5  # of each pair
SLOW, SLOW_ROUNDS = 3.0, 2  # a run of more seconds varies less, and costs more
JOINS = {
    "last_join_multi": multi.CASES,
    "last_join_point_in_time": point_in_time.CASES,
    "last_join_large": large.CASES,
    "last_join_skew": skew.CASES,
    "last_join_keyless": keyless.CASES,
}
WINDOWS = {
    "window_article": article.CASES,
    "window_skew": [hot_key.CASE],
    "window_range": range_frames.CASES,
    "window_small": small.CASES,
}


@dataclass(frozen=True)
class Way:
    """One of Joinery's queries.

    Args:
        case: The case's name on the command line.
        name: Names the data and the form.
        sql: The query.
        shape: The shape of its tables.
    """

    case: str
    name: str
    sql: str
    shape: joined.Shape | windowed.Shape

    def tables(self) -> dict[str, str]:
        """Folders by the names under which the query reads them, made if need be."""
        tables = joined.tables(self.shape) if isinstance(self.shape, joined.Shape) else windowed.tables(self.shape)
        return {name: str(folder) for name, folder in tables.items()}


def ways(scale: float = 1) -> Iterator[Way]:
    """Joinery's queries, with the automatic choice and with each hint that a case has.

    Args:
        scale: Scale of the data.
    """
    for name, cases in JOINS.items():
        for case in cases:
            for hint in (None, *case.hints):
                sql = joins.last_join(case.question, hint) if hint else joins.last_join(case.question)
                yield Way(name, _named(case.name, hint), sql, case.shape.scaled(scale))
    for name, frames in WINDOWS.items():
        for frame in frames:
            for hint in {None: None, frame.hint or None: None}:
                sql = windows.window(frame.question.scaled(scale), hint or "")
                yield Way(name, _named(frame.name, hint), sql, frame.shape.scaled(scale))


def _named(case: str, hint: str | None) -> str:
    return f"{case}, {hint} hint" if hint else case


class Jar:
    """A JVM with a jar, in a separate process.

    Args:
        path: Path of the jar.
    """

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.against", "--serve", str(path)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def __enter__(self) -> Jar:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(timeout=60)

    def seconds(self, way: Way, settings: Mapping[str, str] | None = None) -> float:
        """Run a query once.

        Args:
            way: The query.
            settings: Spark's settings for this query alone.

        Raises:
            RuntimeError: It ran without an operator of Joinery's, or the process died.
        """
        assert self.process.stdin
        assert self.process.stdout
        request = {"sql": way.sql, "tables": way.tables(), "settings": dict(settings or {})}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline() or "{}")
        if not answer.get("operators"):
            raise RuntimeError(f"{way.case}, {way.name}: no operator of Joinery's ran: {answer or 'the JVM died'}")
        return float(answer["seconds"])


def serve(jar: str) -> None:
    """Run the queries that the standard input asks for, one JSON object a line, in a session with a jar.

    Args:
        jar: Its path.
    """
    extension = "io.github.sparkjoinery.JoineryExtensions"
    spark = session({"spark.jars": jar, "spark.sql.extensions": extension}, joinery=False)
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        register(spark, {name: Path(folder) for name, folder in request["tables"].items()})
        run = Spark(spark, request["sql"], request["settings"]).answer()
        print(json.dumps({"seconds": run.seconds, "operators": operators(run.plan)}), flush=True)
    spark.stop()


def in_turn(new: Jar, old: Jar, way: Way, warm_up: int = WARM_UP, rounds: int = ROUNDS) -> list[tuple[float, float]]:
    """Run a query with both jars in turn.

    Args:
        new: This jar.
        old: The other jar.
        way: The query.
        warm_up: Rounds that do not count, at least one.
        rounds: Rounds that count; a slow query has fewer.

    Returns:
        Seconds by round, with this jar and with the other.
    """
    slowest = 0.0
    for _ in range(warm_up):
        slowest = max(new.seconds(way), old.seconds(way))
    found = []
    for i in range(min(rounds, SLOW_ROUNDS) if slowest > SLOW else rounds):
        if i % 2:  # the jars take turns in going first
            found.append((new.seconds(way), old.seconds(way)))
        else:
            before = old.seconds(way)
            found.append((new.seconds(way), before))
    return found


def ratios(pairs: Sequence[Sequence[tuple[float, float]]]) -> list[float]:
    """How many times as fast this jar was in each pair of JVMs: the median over its rounds.

    Args:
        pairs: Seconds by round, with this jar and with the other, of each pair.
    """
    return [statistics.median(before / after for after, before in rounds) for rounds in pairs]


def result(found: Mapping[Way, Sequence[Sequence[tuple[float, float]]]], revision: str) -> Result:
    """The page.

    Args:
        found: Seconds with this jar and with the other, by query, pair of JVMs and round.
        revision: The commit of the other jar.
    """
    rows, missed = [], []
    for way, pairs in found.items():
        new, old = (statistics.median(column) for column in zip(*itertools.chain(*pairs), strict=True))
        by_pair = ratios(pairs)
        ratio = statistics.median(by_pair)
        spread = f"{min(by_pair):.2f} to {max(by_pair):.2f}"
        met = ratio >= AT_LEAST
        verdict = "met" if met else "**not met**"
        rows.append([way.case, way.name, f"{new:.2f}", f"{old:.2f}", f"{ratio:.2f}", spread, verdict])
        if not met:
            missed.append(f"{way.case}, {way.name}: {ratio:.2f}")
    middle = statistics.geometric_mean([ratio for pairs in found.values() for ratio in ratios(pairs)])
    return Result(
        case="against",
        title=f"This jar against that of {revision}",
        columns=["case", "query", "this jar, s", f"{revision}, s", "times as fast", "by pair", f"at least {AT_LEAST}"],
        rows=rows,
        verdict="; ".join(missed) or f"{len(rows)} queries, each at least {AT_LEAST} times as fast as with that jar",
        met=not missed,
        notes=[
            "At Spark's defaults.",
            f"{PAIRS} pairs of JVMs, the two of a pair in turn: {WARM_UP} rounds to warm up, then {ROUNDS} rounds, "
            f"{SLOW_ROUNDS} of queries that take more than {SLOW:g} s. That of a pair is the median over its rounds "
            "of (that jar / this jar in the same round); that of a query is the median over pairs. The geometric mean "
            f"of all is {middle:.3f}.",
            "An operator of Joinery's ran in every run. Cases that are not in the table were not run.",
        ],
        data={f"{way.case}: {way.name}": seconds for way, seconds in found.items()},
        command=f'make bench-against REV={revision} CASE="{" ".join(dict.fromkeys(way.case for way in found))}"',
    )


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="[CASE]...")
@click.option("--serve", "served", metavar="JAR", help="Run queries that the standard input asks for, with this jar.")
@click.option("--new", type=click.Path(path_type=Path), help="This jar.")
@click.option("--old", type=click.Path(path_type=Path), help="The other.")
@click.option("--revision", help="The commit of the other.")
def main(names: tuple[str, ...], served: str | None, new: Path, old: Path, revision: str) -> None:
    """Run Joinery's queries (of all cases, unless some are named) with two jars in turn."""
    if served:
        serve(served)
        return
    found: dict[Way, list[list[tuple[float, float]]]] = {
        way: [] for way in ways() if not names or way.case.startswith(names)
    }
    for _ in range(PAIRS):
        with Jar(new) as this, Jar(old) as other:
            for way, pairs in found.items():
                pairs.append(in_turn(this, other, way))
                click.echo(f"{way.case}, {way.name}: {ratios(pairs)[-1]:.2f}")
    page = result(found, revision)
    show(page)
    write(page)
    sys.exit(not page.met)


if __name__ == "__main__":
    main()
