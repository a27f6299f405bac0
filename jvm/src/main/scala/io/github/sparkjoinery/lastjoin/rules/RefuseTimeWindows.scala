package io.github.sparkjoinery.lastjoin.rules

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoinAsOf, LastJoinOrder, LastJoinRight}
import io.github.sparkjoinery.planning.JoineryException.fail

/**
 * Refuses `window()` and `session_window()` in ORDER BY and `as_of`. Spark makes a column of them below whatever plan
 * has one child, and drops rows without a time there; the marks of a LAST JOIN have one child, and lose such rows. So
 * it is said before Spark resolves functions, when hints are resolved.
 */
object RefuseTimeWindows extends Rule[LogicalPlan] {
  private val Names = Set("window", "session_window")

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case right: LastJoinRight => right.order.foreach(check("ORDER BY"))
      case node => node.expressions.foreach(_.foreach {
          case mark: UnresolvedFunction if nameOf(mark) == LastJoinOrder.Name =>
            mark.arguments.foreach(check("ORDER BY"))
          case mark: UnresolvedFunction if nameOf(mark) == LastJoinAsOf.Name => mark.arguments.foreach(check("as_of"))
          case _ =>
        })
    }
    plan
  }

  private def check(where: String)(term: Expression): Unit = term.foreach {
    case function: UnresolvedFunction if Names(nameOf(function)) =>
      fail(
        "TIME_WINDOW",
        s"$where of LAST JOIN does not take ${nameOf(function)}(), of which Spark makes a column that drops rows without " +
          "a time. Compute it in a subquery, or use date_trunc.",
        function.origin
      )
    case _ =>
  }

  private def nameOf(function: UnresolvedFunction): String = function.nameParts.last.toLowerCase(Locale.ROOT)
}
