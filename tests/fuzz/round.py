"""Runs rounds. A round is an application with its own settings, which draws and compares cases until time is over.

The process reads one order per line from standard input. It runs all orders in the same JVM, because a new JVM takes
long to become fast. It writes one JSON object per line to standard output, up to "ended" for each order. Spark's output
goes to standard error.
"""

from __future__ import annotations

import json
import logging
import random
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from fuzz.capability import Capability, Case
from fuzz.cases import CAPABILITIES
from fuzz.checking import Verdict, check, right_answer, stock_answer, tested_sql
from fuzz.reduction import reduce, without_unused_columns
from fuzz.running import ApplicationDied
from fuzz.session import application
from fuzz.settings import draw_meaning


class Round:
    """Draws and compares cases in one application.

    Args:
        order: The order of the parent process. It has "static" settings, "seed", "seconds" and "cases". The entry
            "replay" has cases to run again, and "stock" says whether stock Spark alone runs them. The entry "reduce"
            is the time for reducing a case, and "ignore" has texts of known differences. The entry "most" is the
            number of differences that end the round.
    """

    def __init__(self, order: dict[str, Any], spark: SparkSession, folder: Path) -> None:
        self.order = order
        self.spark = spark
        self.folder = folder
        self.rng = random.Random(order["seed"])
        self.deadline = time.monotonic() + order["seconds"]
        self.retries = "," in order["static"].get("spark.master", "").partition("-cluster")[0]
        self.signatures: set[str] = set()

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.deadline or len(self.signatures) >= self.order["most"]

    def run(self) -> None:
        """Compare until the time is over, or enough differences are found."""
        while not self.is_over:
            capability = CAPABILITIES[self.rng.choice(self.order["cases"])]
            tables = capability.draw_tables(self.rng)
            for _ in range(capability.queries):
                if self.is_over:
                    return
                self.query(capability, tables)

    def query(self, capability: Capability, tables: dict[str, Any]) -> None:
        """Draw a query, get its right answer, and compare several runs with it."""
        case: Case = {
            "capability": capability.name,
            "tables": tables,
            "session": draw_meaning(self.rng),
            "query": capability.draw_query(self.rng, tables),
            "variant": {},
        }
        if capability.asks_the_same and self.rng.random() < 0.1:
            case["later"] = draw_meaning(self.rng)
        emit("query", case=case)
        if not self.is_prepared(capability, case):
            return
        right = right_answer(self.spark, capability, case)
        if right.kind not in ("rows", "data"):
            emit("refused", capability=capability.name, kind=right.kind, error=(right.error or "")[:300])
            return
        for _ in range(capability.runs):
            if self.is_over:
                return
            case = {**case, "variant": capability.draw_variant(self.rng, case["query"])}
            if self.retries and not case["query"].get("limit") and self.rng.random() < 0.5:
                case["variant"]["flaky"] = True
            emit("start", case=case)
            verdict = check(self.spark, capability, case, right)
            emit(
                "run",
                capability=capability.name,
                compared=verdict.compared,
                seconds=round(verdict.found.seconds, 3),
                forms=verdict.found.forms,
                raised=verdict.found.kind != "rows",
                settled=verdict.settled,
            )
            if verdict.difference and any(text in verdict.difference for text in self.order["ignore"]):
                emit("ignored")
            elif verdict.difference and verdict.signature not in self.signatures:
                self.signatures.add(verdict.signature)
                self.difference(capability, case, verdict)

    def is_prepared(self, capability: Capability, case: Case) -> bool:
        """Create the tables of a case. Errors that the case does not ask for are reported, as they may come from a job.

        Raises:
            ApplicationDied: If the application died, so that nothing more can be drawn.
        """
        try:
            capability.prepare(self.spark, self.folder, case)
        except Exception as error:  # any error of the jobs, of Spark and of py4j
            text = f"{type(error).__name__}: {error}"[:600]
            if not is_alive(self.spark):
                emit("unprepared", capability=capability.name, error=f"the application died: {text}")
                raise ApplicationDied(text) from error
            if capability.expects(error, case):
                emit("refused", capability=capability.name, kind="other", error=f"not prepared: {text}"[:300])
            else:
                emit("unprepared", capability=capability.name, error=text)
            return False
        return True

    def difference(self, capability: Capability, case: Case, verdict: Verdict) -> None:
        """Report a difference at once, then again once it is reduced."""
        sql = tested_sql(capability, case)
        emit("difference", case=case, difference=verdict.difference, signature=verdict.signature, sql=sql)
        if self.order["reduce"]:

            def fails(other: Case) -> bool:
                return self.fails(capability, other, verdict.signature)

            small = reduce(case, fails, self.order["reduce"])
            slim = without_unused_columns(small, capability.sql(small), capability.oracle_sql(small))
            small = slim if fails(slim) else small
            again = self.verdict(capability, small)
            text = again.difference or verdict.difference
            emit("reduced", case=small, difference=text, signature=verdict.signature, sql=tested_sql(capability, small))
            capability.prepare(
                self.spark, self.folder, case
            )  # the next runs are compared with the whole tables' answer

    def fails(self, capability: Capability, case: Case, signature: str) -> bool:
        """Whether a smaller case fails like the larger one. Wrong rows are the same failure in any operator."""
        try:
            verdict = self.verdict(capability, case)
        except Exception:  # a case that lost too many parts may be invalid
            return False
        return verdict.difference is not None and verdict.signature.split()[0] == signature.split()[0]

    def verdict(self, capability: Capability, case: Case) -> Verdict:
        """Run a case once more."""
        capability.prepare(self.spark, self.folder, case)
        return check(self.spark, capability, case, right_answer(self.spark, capability, case))

    def by_stock(self, capability: Capability, case: Case) -> Verdict:
        """Run a case with stock Spark alone, to see whether the application survives it.

        A case without a variant was running in stock Spark for the right answer, so it runs again in that plainest way.
        """
        capability.prepare(self.spark, self.folder, case)
        emit("prepared")
        ask = stock_answer if case["variant"] else right_answer
        return Verdict(None, compared=False, found=ask(self.spark, capability, case))


def is_alive(spark: SparkSession) -> bool:
    """Whether the application can still run queries."""
    try:
        return not spark.sparkContext._jsc.sc().isStopped()
    except Exception:  # there is no context, or no JVM
        return False


def emit(event: str, **fields: Any) -> None:
    """Send an event to the parent process."""
    print(json.dumps({"event": event, **fields}), flush=True)


def run_order(order: dict[str, Any]) -> None:
    """Start an application, and carry out an order."""
    with tempfile.TemporaryDirectory(prefix="joinery-fuzz-") as folder, application(order, folder) as spark:
        emit("started")
        this = Round(order, spark, Path(folder))
        for case in order.get("replay", []):
            capability = CAPABILITIES[case["capability"]]
            verdict = this.by_stock(capability, case) if order["stock"] else this.verdict(capability, case)
            emit("verdict", difference=verdict.difference, compared=verdict.compared, forms=verdict.found.forms)
        this.run()
    emit("ended")


def main() -> None:
    """Run one order after the other. The JVM's exit status comes last, because only the end of a log is kept."""
    logging.disable()  # pyspark logs each error of a query, with all its causes
    try:
        for line in sys.stdin:
            run_order(json.loads(line))
    except Exception:
        traceback.print_exc()
        sys.exit(f"the JVM's exit status is {jvm_status()}")


def jvm_status() -> int | None:
    """The JVM's exit status, negative for a signal; None if it still runs. Spark exits with 52 if it lacks memory."""
    gateway = SparkContext._gateway
    if gateway is None:
        return None
    try:
        status: int | None = gateway.proc.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return None
    return status


if __name__ == "__main__":
    main()
