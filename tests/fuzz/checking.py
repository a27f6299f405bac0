"""Compare one run of a case with stock Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from fuzz.capability import Capability, Case
from fuzz.running import Answer, memory_state, run
from fuzz.settings import Settings

# STOCK switches Joinery off, and PLAIN makes Spark run queries in its plainest way.
STOCK: Settings = {
    "spark.joinery.lastJoin.enabled": "false",
    "spark.joinery.asofJoin.enabled": "false",
    "spark.joinery.rangeJoin.enabled": "false",
    "spark.joinery.slidingWindow.enabled": "false",
    "spark.joinery.runtimeFilter.enabled": "false",
}
PLAIN: Settings = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
}
# Seconds. A query that takes this much longer than in stock Spark counts as a difference.
PATIENCE = 30.0
# How often Joinery must lack memory, and stock Spark never, to count as a difference.
TRIES = 3
# Stock Spark itself may fail in some of its runs. It evaluates an inferred filter of one side before, or after,
# adaptive execution or a broadcast finds that the other side is empty. A semi join looks at rows until one matches, in
# an order that hints change. If only one of the two fails, stock Spark is asked again in each of these ways, and with
# Joinery's hints, before that counts as a difference.
UNADAPTIVE: Settings = {"spark.sql.adaptive.enabled": "false"}
SHUFFLED: Settings = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
ANEW: list[Settings] = [UNADAPTIVE, UNADAPTIVE | SHUFFLED, {}, {}, {}, SHUFFLED]
CAUSE = re.compile(r"^Caused by: (.{1,300})", re.MULTILINE)
ERROR_CLASS = re.compile(r"\[([A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]")


@dataclass
class Verdict:
    """The result of a comparison.

    Attributes:
        difference: Text about the difference; None if there is none.
        compared: Whether there was a right answer to compare with.
        found: The answer under test.
        signature: Differences of the same signature are likely the same defect.
        settled: Whether stock Spark had to be asked again to rule out a difference.
    """

    difference: str | None
    compared: bool
    found: Answer = field(default_factory=Answer)
    signature: str = ""
    settled: bool = False


def right_answer(spark: SparkSession, capability: Capability, case: Case) -> Answer:
    """Ask stock Spark for the right answer."""
    confs = {**PLAIN, **STOCK, **case["session"], **capability.meaning(case)}
    with capability.around(spark, case):
        return run(spark, capability.oracle_sql(case), confs, limit=PATIENCE, later=case.get("later"))


def check(spark: SparkSession, capability: Capability, case: Case, right: Answer) -> Verdict:
    """Run a case with Joinery, and compare the answer.

    Args:
        spark: A classic session.
        capability: The case's capability.
        case: The case.
        right: Stock Spark's answer.
    """
    if right.kind not in ("rows", "data"):
        return Verdict(None, compared=False)
    confs = settings_of(capability, case)
    with capability.around(spark, case):
        limit, later = PATIENCE + 10 * right.seconds, case.get("later")
        found = run(spark, tested_sql(capability, case), confs, limit, later)
        for _ in range(TRIES):
            # earlier queries may have left too little memory, for stock Spark, too
            if found.kind != "memory":
                break
            if stock_answer(spark, capability, case).kind == "memory" or not stock_shuffles(spark, capability, case):
                return Verdict(None, compared=False, found=found)
            found = run(spark, tested_sql(capability, case), confs, limit, later)
        if found.kind == "time":  # the machine may have been busy meanwhile
            found = run(spark, tested_sql(capability, case), confs, limit + PATIENCE, later)
    if found.held > right.held:
        return Verdict(f"{found.held} bytes of execution memory are held by no query", True, found, "held memory")
    if right.kind == "data" and found.kind == "data":
        return Verdict(None, compared=True, found=found)
    if right.kind == "data" and found.kind == "rows":  # Joinery may answer where stock raises an error
        again = next((answer for answer in asked_anew(spark, capability, case) if answer.kind == "rows"), None)
        if again is None:
            return Verdict(None, compared=False, found=found)
        difference = capability.difference(again, found, case)
        return Verdict(difference, True, found, f"rows {capability.name}", settled=difference is None)
    if found.kind == "rows":
        difference = capability.difference(right, found, case)
        return Verdict(difference, True, found, f"rows {capability.name} {' '.join(found.forms)}")
    probe = capability.probe_sql(case) if found.kind in ("data", "other") else None
    if probe:
        # An error with which Joinery refuses is no difference, and neither is an error of stock in the same form.
        refused = "[JOINERY_" in (found.error or "")
        if refused or run(spark, probe, {**confs, **STOCK}, limit=PATIENCE).kind == found.kind:
            return Verdict(None, compared=found.kind == "data", found=found)
    if found.kind in ("data", "other"):
        wanted = error_class(found)
        if any(answer.error and error_class(answer) == wanted for answer in asked_anew(spark, capability, case)):
            return Verdict(None, compared=True, found=found, settled=True)
    # no answer can be expected if stock takes too long under these settings, too
    if found.kind == "time" and stock_answer(spark, capability, case).kind == "time":
        return Verdict(None, compared=False, found=found)
    state = f" ({memory_state(spark)})" if found.kind == "memory" else ""
    told = f"{found.kind} error where stock has {right.kind}{state}: {telling(found)}"
    return Verdict(told, True, found, signature(found))


def settings_of(capability: Capability, case: Case) -> Settings:
    """The settings under which Joinery runs a case."""
    drawn = case["variant"].get("settings", {})
    return {**drawn, **capability.only_tested(case), **case["session"], **capability.meaning(case)}


def stock_answer(
    spark: SparkSession,
    capability: Capability,
    case: Case,
    other: Mapping[str, str] | None = None,
    sql: str | None = None,
) -> Answer:
    """Ask stock Spark under the settings of Joinery's run. Its operators may lack memory, too.

    Args:
        spark: A classic session.
        capability: The case's capability.
        case: The case.
        other: Settings that take the place of Joinery's.
        sql: Another text of the same query.
    """
    confs = {**settings_of(capability, case), **(other or {}), **STOCK, **capability.meaning(case)}
    with capability.around(spark, case):
        asked = in_tasks_that_fail(case, sql or capability.oracle_sql(case))
        return run(spark, asked, confs, limit=PATIENCE, later=case.get("later"))


def stock_shuffles(spark: SparkSession, capability: Capability, case: Case) -> bool:
    """Whether stock Spark has the memory to shuffle a case's tables. An answer without a shuffle does not show this.

    Blocks in use, such as broadcasts to running tasks, may leave no room for the first page of a shuffle.
    """
    confs = {**settings_of(capability, case), **STOCK}
    statements = [f"SELECT /*+ REPARTITION(8, id) */ * FROM {table}" for table in case["tables"]]
    return all(run(spark, statement, confs, limit=PATIENCE).kind != "memory" for statement in statements)


def asked_anew(spark: SparkSession, capability: Capability, case: Case) -> Iterator[Answer]:
    """Ask stock Spark again in other ways, one after the other; yields the answers."""
    hinted = capability.hinted_sql(case)
    if hinted:
        yield stock_answer(spark, capability, case, sql=hinted)
    for other in ANEW:
        yield stock_answer(spark, capability, case, other)


def tested_sql(capability: Capability, case: Case) -> str:
    """The query that Joinery runs."""
    return in_tasks_that_fail(case, capability.sql(case))


def in_tasks_that_fail(case: Case, sql: str) -> str:
    """A query, in tasks that fail once if the case says so."""
    return f"SELECT * FROM ({sql}) WHERE flaky(1)" if case["variant"].get("flaky") else sql


def error_class(answer: Answer) -> str:
    """Spark's class of an error. An error without one, or an internal error, has its root cause or its first line."""
    found = ERROR_CLASS.search(answer.error or "")
    if found and found[1] != "INTERNAL_ERROR":
        return found[1]
    # the first line of a py4j error names an object, which differs each time
    causes = CAUSE.findall(answer.error or "")
    return str(causes[-1]) if causes else first_line(answer)


def telling(answer: Answer) -> str:
    """An error with its root cause, without the driver's stack that py4j puts between them."""
    text = answer.error or ""
    _, cause, stack = text.rpartition("\nCaused by: ")
    return f"{first_line(answer)}{cause}{stack}" if cause else text


def first_line(answer: Answer) -> str:
    """The first line of an error."""
    return (answer.error or "").strip().partition("\n")[0][:300]


def signature(found: Answer) -> str:
    """A signature that errors of one defect share: the kind, and the last class that they name."""
    text = found.error or ""
    words = [word for word in text.replace(":", " ").split() if word.endswith(("Exception", "Error"))]
    return f"{found.kind} {words[-1] if words else text[:60]}"
