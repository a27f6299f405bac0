package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.TimeWindows.{nameOf, refusal}
import io.github.sparkjoinery.lastjoin.logical.{LastJoinAsOf, LastJoinOrder}

/**
 * Refuses [[io.github.sparkjoinery.lastjoin.logical.TimeWindows]] in LAST JOINs of DataFrames, whose terms are
 * arguments of functions. The rule runs with the hint resolution, before Spark resolves functions. The parser refuses
 * them in SQL.
 */
object RefuseTimeWindows extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach(_.expressions.foreach(_.foreach {
      case mark: UnresolvedFunction if nameOf(mark) == LastJoinOrder.Name => check(mark, "ORDER BY")
      case mark: UnresolvedFunction if nameOf(mark) == LastJoinAsOf.Name => check(mark, "as_of")
      case _ =>
    }))
    plan
  }

  private def check(mark: UnresolvedFunction, where: String): Unit =
    mark.arguments.flatMap(refusal(where)(_)).headOption.foreach(error => throw error)
}
