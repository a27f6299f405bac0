"""Rounds: each is an application with settings of its own, which draws cases and compares until its time is over.

The process reads one order a line from standard input, and runs them one after the other in the same JVM: most of what
a new JVM does is to become fast. It writes one JSON object a line to standard output, up to "ended" for each order;
what Spark says goes to standard error.
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
    """Draws and compares in one application.

    Args:
        order: What the parent process wants: "static" settings, "seed", "seconds", "cases", "replay": cases to look at
            again, "stock": whether those run by stock Spark alone, "reduce": the seconds for reducing a case, "ignore":
            texts of differences that are known, "most": the differences that end the round.
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
        """One right answer, and several runs against it."""
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
        """Make the tables of a case. An error that the case does not ask for is told apart: it may be of a job.

        Raises:
            ApplicationDied: It took the application with it, and nothing more can be drawn.
        """
        try:
            capability.prepare(self.spark, self.folder, case)
        except Exception as error:  # of the jobs, of Spark and of py4j, whatever it is
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
        """Whether a smaller case fails as the larger one did, rows in whatever operator."""
        try:
            verdict = self.verdict(capability, case)
        except Exception:  # a case from which too much has been taken may be none any more
            return False
        return verdict.difference is not None and verdict.signature.split()[0] == signature.split()[0]

    def verdict(self, capability: Capability, case: Case) -> Verdict:
        """Look at a case once more."""
        capability.prepare(self.spark, self.folder, case)
        return check(self.spark, capability, case, right_answer(self.spark, capability, case))

    def by_stock(self, capability: Capability, case: Case) -> Verdict:
        """Run a case by stock Spark alone, to see whether the application outlives that.

        A case without a variant was to be run by stock, in the plainest way, for the right answer.
        """
        capability.prepare(self.spark, self.folder, case)
        emit("prepared")
        ask = stock_answer if case["variant"] else right_answer
        return Verdict(None, compared=False, found=ask(self.spark, capability, case))


def is_alive(spark: SparkSession) -> bool:
    """Whether the application can run anything more."""
    try:
        return not spark.sparkContext._jsc.sc().isStopped()
    except Exception:  # there is no context, or no JVM
        return False


def emit(event: str, **fields: Any) -> None:
    """Tell the parent process."""
    print(json.dumps({"event": event, **fields}), flush=True)


def run_order(order: dict[str, Any]) -> None:
    """Start an application, and do what the order says."""
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
    """Run one order after the other. How a JVM ended is told last: only the end of a log is kept."""
    logging.disable()  # pyspark logs each error of a query, with all that led to it
    try:
        for line in sys.stdin:
            run_order(json.loads(line))
    except Exception:
        traceback.print_exc()
        sys.exit(f"the JVM's exit status is {jvm_status()}")


def jvm_status() -> int | None:
    """How the JVM ended, a signal as a negative number; None if it runs. Spark's own 52 is for a lack of memory."""
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
