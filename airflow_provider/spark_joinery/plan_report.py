"""Joinery's report on the joins and windows of a physical plan, read through py4j."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from spark_joinery.errors import InvalidArgumentError, JarNotLoadedError
from spark_joinery.loaded import misfit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Operator:
    """One join or window of a physical plan.

    Attributes:
        operator: Its name in EXPLAIN, such as ``SortMergeLastJoin``.
        kind: Whether it is a join or a window.
        joinery: True if it is Joinery's, False if Spark's.
        reason: Why it was chosen, or why Joinery left it to Spark.
        detail: The operator with its arguments, as in EXPLAIN.
    """

    operator: str
    kind: Literal["join", "window"]
    joinery: bool
    reason: str
    detail: str


def explain_sql(spark: SparkSession, statement: str) -> list[Operator]:
    """Plan a statement without running it, commands included, and report on its joins and windows.

    Args:
        spark: A classic session with the jar.
        statement: One SQL statement. The report on ``CREATE TABLE ... AS``, ``INSERT`` and the like is on their query.

    Returns:
        The joins and windows of the plan, from the root down.

    Raises:
        JarNotLoadedError: The session runs without the jar.
        InvalidArgumentError: The session is a Spark Connect session.
        pyspark.errors.AnalysisException: Spark refuses the statement.

    Example:
        >>> [entry.operator for entry in explain_sql(spark, "SELECT * FROM f LAST JOIN w USING (origin)")]
        ['BroadcastLastJoin']
    """
    report = _plan_report(spark)
    session: Any = spark._jsparkSession
    state = session.sessionState()
    # SKIP, as EXPLAIN does: else planning a CREATE TABLE AS would run it
    skip = _jvm(spark).org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    execution = state.executePlan(state.sqlParser().parsePlan(statement), skip)
    queries = _hidden_queries(spark, execution.optimizedPlan())
    executions = [state.executePlan(query, skip) for query in queries] or [execution]
    return [Operator(**entry) for one in executions for entry in json.loads(report.json(one))]


def explain_dataframe(frame: DataFrame) -> list[Operator]:
    """Report on the joins and windows of a DataFrame.

    Args:
        frame: A classic DataFrame. The report is on the initial plan of adaptive execution, or on the final one if
            an action has run on this very object.

    Returns:
        The joins and windows of the plan, from the root down.

    Raises:
        JarNotLoadedError: The session runs without the jar.
        InvalidArgumentError: The DataFrame belongs to a Spark Connect session.
    """
    report = _plan_report(frame.sparkSession)
    java_frame: Any = frame._jdf
    return [Operator(**entry) for entry in json.loads(report.json(java_frame.queryExecution()))]


def _jvm(spark: SparkSession) -> Any:
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        raise InvalidArgumentError("Plans can only be read in a classic Spark session, not over Spark Connect.")
    return jvm


def _plan_report(spark: SparkSession) -> Any:
    from py4j.java_gateway import JavaClass

    jvm = _jvm(spark)
    if why := misfit(spark):
        raise JarNotLoadedError(why)  # checked before a class of the jar is looked up: it may not load here
    report = jvm.io.github.sparkjoinery.planning.explain.PlanReport
    if not isinstance(report, JavaClass):  # py4j takes an unknown class for a package
        raise JarNotLoadedError(
            "This Spark session runs without the Joinery jar; create it with spark_joinery.configure_spark()."
        )
    return report


def _hidden_queries(spark: SparkSession, plan: Any) -> list[Any]:
    """The queries inside a command that Spark plans only when it runs the command, such as CREATE TABLE AS."""
    from py4j.java_gateway import is_instance_of

    gateway = spark.sparkContext._gateway
    if not is_instance_of(gateway, plan, "org.apache.spark.sql.catalyst.plans.logical.Command"):
        return []
    inner = plan.innerChildren()
    plans = [inner.apply(i) for i in range(inner.size())]
    # a plan without output is the name of the table to create
    return [query for query in plans if not query.output().isEmpty()]
