"""Compare one run of a case with stock Spark."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from fuzz.capability import Capability, Case
from fuzz.running import Answer, run
from fuzz.settings import Settings

# Stock Spark, by the plainest way that there is.
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
# A query that takes so much longer than stock's, in seconds, counts as a difference.
PATIENCE = 30.0
# So often Joinery must lack memory, and stock Spark never, for a difference.
TRIES = 3


@dataclass
class Verdict:
    """What a comparison found.

    Attributes:
        difference: What differs; None if nothing does.
        compared: Whether there was a right answer to compare with.
        found: The answer under test.
        signature: Differences of the same signature are likely the same defect.
    """

    difference: str | None
    compared: bool
    found: Answer = field(default_factory=Answer)
    signature: str = ""


def right_answer(spark: SparkSession, capability: Capability, case: Case) -> Answer:
    """Ask stock Spark."""
    confs = {**PLAIN, **STOCK, **case["session"], **capability.meaning(case)}
    with capability.around(spark, case):
        return run(spark, capability.oracle_sql(case), confs, limit=PATIENCE)


def check(spark: SparkSession, capability: Capability, case: Case, right: Answer) -> Verdict:
    """Run a case by Joinery, and compare.

    Args:
        spark: A classic session.
        capability: Of the case.
        case: The case.
        right: Stock's answer.
    """
    if right.kind not in ("rows", "data"):
        return Verdict(None, compared=False)
    confs = settings_of(capability, case)
    with capability.around(spark, case):
        found = run(spark, tested_sql(capability, case), confs, limit=PATIENCE + 10 * right.seconds)
        for _ in range(TRIES):
            # whether memory is enough depends on what the queries before have left in it: so for stock, too
            if found.kind != "memory":
                break
            if stock_answer(spark, capability, case).kind == "memory":
                return Verdict(None, compared=False, found=found)
            found = run(spark, tested_sql(capability, case), confs, limit=PATIENCE + 10 * right.seconds)
    if right.kind == "data":
        if found.kind == "data" or (found.kind == "rows" and capability.may_raise_less(case)):
            return Verdict(None, compared=found.kind == "data", found=found)
        if found.kind == "rows":
            return Verdict(f"no error, but stock says {first_line(right)}", True, found, "error missing")
    if found.kind == "rows":
        difference = capability.difference(right, found, case)
        return Verdict(difference, True, found, f"rows {capability.name} {' '.join(found.forms)}")
    probe = capability.probe_sql(case) if found.kind == "other" else None
    if probe:
        # what Joinery refuses by an error of its own is no difference, nor what stock cannot do either
        refused = "[JOINERY_" in (found.error or "")
        if refused or run(spark, probe, {**confs, **STOCK}, limit=PATIENCE).kind == "other":
            return Verdict(None, compared=False, found=found)
    # where stock takes too long under these settings, too, there is no answer to be expected
    if found.kind == "time" and stock_answer(spark, capability, case).kind == "time":
        return Verdict(None, compared=False, found=found)
    return Verdict(f"{found.kind} error where stock has {right.kind}: {found.error}", True, found, signature(found))


def settings_of(capability: Capability, case: Case) -> Settings:
    """The settings under which Joinery runs a case."""
    drawn = case["variant"].get("settings", {})
    return {**drawn, **capability.only_tested(case), **case["session"], **capability.meaning(case)}


def stock_answer(spark: SparkSession, capability: Capability, case: Case) -> Answer:
    """What stock Spark answers under the settings that Joinery was given: its own operators may lack memory, too."""
    confs = {**settings_of(capability, case), **STOCK}
    return run(spark, capability.oracle_sql(case), confs, limit=PATIENCE)


def tested_sql(capability: Capability, case: Case) -> str:
    """The query that Joinery runs, in tasks that fail once where the case says so."""
    sql = capability.sql(case)
    return f"SELECT * FROM ({sql}) WHERE flaky(1)" if case["variant"].get("flaky") else sql


def first_line(answer: Answer) -> str:
    """The first line of an error."""
    return (answer.error or "").strip().partition("\n")[0][:300]


def signature(found: Answer) -> str:
    """What errors of one defect share: the kind, and the first class that they name."""
    text = found.error or ""
    words = [word for word in text.replace(":", " ").split() if word.endswith(("Exception", "Error"))]
    return f"{found.kind} {words[-1] if words else text[:60]}"
