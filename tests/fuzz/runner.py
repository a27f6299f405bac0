"""Runs rounds one after the other, several in each process. `make fuzz` starts it."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fuzz import summary
from fuzz.cases import CAPABILITIES
from fuzz.report import Report
from fuzz.settings import Settings, draw_jvm, draw_static

Events = Callable[[dict[str, Any]], Iterator[dict[str, Any]]]
CASES = list(CAPABILITIES)
START_LIMIT = 300.0  # seconds that an application may take to start
HANGS_AFTER = 240.0  # seconds without any event


def main() -> None:
    """Read the command line, run rounds, print the report, and fail if an answer differs."""
    arguments = parsed()
    seed = arguments.seed if arguments.seed is not None else random.randrange(2**32)
    if arguments.report and any(piece["seed"] == seed for piece in summary.pieces_of(arguments.report)):
        sys.exit(
            f"--report: {arguments.report} has a run of seed {seed} already, which would count twice: draw another seed"
        )
    print(f"fuzz: SEED={seed} SECONDS={arguments.seconds:g} CASE={','.join(arguments.cases)}", flush=True)
    report = Report(seed, arguments.cases)
    run_rounds(arguments, random.Random(seed), report)
    for difference in report.differences:
        if difference.case is not None and arguments.reduce:
            difference.static = needed_static(difference.case, difference.static, arguments.jar)
    report.finish()
    print(report.markdown())
    if arguments.report:
        summary.put(arguments.report, report.as_json())
    sys.exit(1 if report.differences else 0)


def parsed() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Joinery against stock Spark, at random.")
    parser.add_argument("--seconds", type=float, default=600, help="for how long to draw")
    parser.add_argument("--seed", type=int, help="the same seed draws the same cases, as far as time allows")
    parser.add_argument(
        "--case", dest="cases", default=",".join(CASES), help=f"some of {', '.join(CASES)}, with commas"
    )
    parser.add_argument("--jobs", type=int, default=2, help="rounds that run at a time")
    parser.add_argument("--round", type=float, default=60, help="seconds of a round, which has settings of its own")
    parser.add_argument("--rounds", type=int, default=12, help="rounds that a JVM lasts for")
    parser.add_argument("--reduce", type=float, default=60, help="seconds for reducing a failing case")
    parser.add_argument("--cluster", type=float, default=0.02, help="the share of rounds with executors of their own")
    parser.add_argument("--stop", action="store_true", help="stop after the first round with a difference")
    parser.add_argument("--ignore", action="append", default=[], help="pass over differences with this text")
    parser.add_argument("--most", type=int, default=3, help="differences after which a round gives way to another")
    parser.add_argument("--jar", help="another jar than the one just built")
    parser.add_argument("--static", action="append", default=[], help="key=value: a static setting for every round")
    parser.add_argument("--log", help="a file to which all that rounds tell is appended, as lines of JSON")
    parser.add_argument(
        "--report", type=Path, help="a path without suffix: a summary, .json and .md, to which this run is added"
    )
    arguments = parser.parse_args()
    arguments.cases = arguments.cases.split(",")
    unknown = set(arguments.cases) - set(CASES)
    if unknown:
        parser.error(f"--case: there is no {', '.join(sorted(unknown))}; expected some of {', '.join(CASES)}")
    arguments.static = [tuple(setting.split("=", 1)) for setting in arguments.static]
    return arguments


def run_rounds(arguments: argparse.Namespace, rng: random.Random, report: Report) -> None:
    """Run rounds until the time is over, several at a time."""
    end = time.monotonic() + arguments.seconds
    drawing = threading.Lock()

    def is_over() -> bool:
        return time.monotonic() > end or (arguments.stop and bool(report.differences))

    def work() -> None:
        while not is_over():
            with drawing:
                jvm = draw_jvm(rng)
            with Application() as application:
                for _ in range(arguments.rounds):
                    if is_over() or application.has_ended:
                        break
                    with drawing:
                        order = draw_order(arguments, rng, end, jvm)
                    run_round(order, report, arguments.log, application.events)
                    report.end_round()
                    if arguments.report:
                        with drawing:  # or one would lose the other's writes
                            summary.put(arguments.report, report.as_json())  # a run may end before its time

    workers = [threading.Thread(target=work) for _ in range(arguments.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def draw_order(arguments: argparse.Namespace, rng: random.Random, end: float, jvm: Settings) -> dict[str, Any]:
    """Draw the order for the next round."""
    # one case decides about memory, so that each has its share of rounds; others that suit it take part, too
    scarce = CAPABILITIES[rng.choice(arguments.cases)].scarce
    return {
        "static": {**jvm, **draw_static(rng, scarce, arguments.cluster), **dict(arguments.static)},
        "seed": rng.getrandbits(48),
        "seconds": min(arguments.round, max(5.0, end - time.monotonic())),
        "cases": [name for name in arguments.cases if CAPABILITIES[name].scarce is scarce],
        "reduce": arguments.reduce,
        "ignore": arguments.ignore,
        "most": 1 if arguments.stop else arguments.most,
        "jar": arguments.jar,
    }


def run_round(order: dict[str, Any], report: Report, log: str | None, events: Events) -> None:
    """Run one round, and record its events. If it dies, the case that it was running counts as a difference."""
    last: dict[str, Any] = {}
    for event in events(order):
        if event["event"] in ("start", "query"):
            last = event
        report.note(event, order["static"])
        if log and event["event"] != "query":
            with Path(log).open("a") as file:
                file.write(json.dumps(event) + "\n")
        if event["event"] == "died":
            case = last.get("case")
            if case is not None and stock_dies(case, order["static"]):
                report.note({"event": "refused", "capability": case["capability"], "error": "stock died, too"}, {})
            else:
                report.note_death(case, order["static"], event["reason"])


class Application:
    """A process with a JVM, which runs one round after the other.

    Attributes:
        has_ended: Whether the process has ended by itself, or was silent for too long.
    """

    def __init__(self) -> None:
        self.has_ended = False
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - it is closed with the process
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.round"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=environment(),
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Application:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process and the JVM that it started, if they do not end by themselves."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()  # there are no more orders
        try:
            self.process.wait(timeout=0 if self.has_ended else 20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.log.close()

    def events(self, order: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Send an order, and yield the process's events, with "died" at the end unless the process says "ended"."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        reason, wait = "the process ended", START_LIMIT
        while True:
            try:
                line = self.lines.get(timeout=wait)
            except queue.Empty:
                reason = f"nothing was heard of it for {wait:g} s"
                break
            if line is None:
                break
            if line.startswith('{"event"'):
                event = json.loads(line)
                wait = HANGS_AFTER
                yield event
                if event["event"] == "ended":
                    return
        self.has_ended = True
        self.log.seek(0)
        yield {"event": "died", "reason": f"{reason}\n{self.log.read()[-1800:]}"}  # pages show 2,000 characters

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)


def events_alone(order: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a new process for one order."""
    with Application() as application:
        yield from application.events(order)


def environment() -> dict[str, str]:
    """The environment of a round: this process's, with the path of the tests and a local address."""
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}


def stock_dies(case: dict[str, Any], static: dict[str, str]) -> bool:
    """Whether an application with prepared tables also dies if stock Spark alone runs a case."""
    order = {**replay_order([case], static), "stock": True}
    seen = {event["event"] for event in events_alone(order)}
    return "prepared" in seen and "verdict" not in seen


def replay_order(cases: list[dict[str, Any]], static: dict[str, str]) -> dict[str, Any]:
    """The order for a round that only runs cases again."""
    order = {"static": static, "replay": cases, "cases": [], "seed": 0, "seconds": 0, "reduce": 0, "ignore": []}
    return {**order, "most": 1, "stock": False}


def replay(cases: list[dict[str, Any]], static: dict[str, str], jar: str | None = None) -> list[dict[str, Any]]:
    """Run cases again, in one application.

    Args:
        cases: The cases, as reported.
        static: Settings of the application.
        jar: Another jar than the one just built.

    Returns:
        "difference", "compared" and "forms" for each case. There are fewer if the application died.
    """
    order = {**replay_order(cases, static), "jar": jar}
    return [event for event in events_alone(order) if event["event"] == "verdict"]


def needed_static(case: dict[str, Any], static: dict[str, str], jar: str | None) -> dict[str, str]:
    """The settings of the application that a case needs to fail: each is left out once, in a new application."""

    def fails(settings: dict[str, str]) -> bool:
        return any(verdict["difference"] for verdict in replay([case], settings, jar))

    plain = {"spark.master": "local[2]"}
    if fails(plain):
        return plain
    kept = dict(static)
    for key in list(static):
        fewer = {other: value for other, value in kept.items() if other != key}
        if key != "spark.master" and fails(fewer):
            kept = fewer
    return kept
