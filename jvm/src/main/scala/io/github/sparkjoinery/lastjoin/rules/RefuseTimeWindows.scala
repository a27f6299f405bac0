package io.github.sparkjoinery.lastjoin.rules

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoinAsOf, LastJoinOrder, LastJoinRight}
import io.github.sparkjoinery.planning.JoineryException.fail

/**
 * Rejects `window()`, `session_window()` and `window_time()` in ORDER BY and `as_of`. Spark turns each into a column
 * below any plan with one child, and the marks of a LAST JOIN have one child. The column would be in the result, and
 * the first two would drop rows without a time. The rule runs with the hint resolution, before Spark resolves
 * functions.
 */
object RefuseTimeWindows extends Rule[LogicalPlan] {
  private val DropsRows = "a column that drops rows without a time. Compute it in a subquery, or use date_trunc."

  private val Names = Map(
    "window" -> DropsRows,
    "session_window" -> DropsRows,
    "window_time" -> "a column of the result. Write `w.end - INTERVAL 1 MICROSECOND`, which is window_time(w)."
  )

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
    case function: UnresolvedFunction if Names.contains(nameOf(function)) =>
      fail(
        "TIME_WINDOW",
        s"$where of LAST JOIN does not take ${nameOf(function)}(), of which Spark makes ${Names(nameOf(function))}",
        function.origin
      )
    case _ =>
  }

  private def nameOf(function: UnresolvedFunction): String = function.nameParts.last.toLowerCase(Locale.ROOT)
}
