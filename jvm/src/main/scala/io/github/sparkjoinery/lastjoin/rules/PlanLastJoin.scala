package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastJoinAsOf, LastJoinLeft, LastJoinOrder, LastJoinRight}
import io.github.sparkjoinery.planning.JoineryException

/**
 * {{{
 *   Join LeftOuter, condition, hint          LastJoin order, condition, hint
 *   :- left                          ==>     :- left
 *   +- LastJoinRight order                   +- right
 *      +- right
 * }}}
 *
 * It runs between analyzer and optimizer (docs/decisions/0002-when-a-join-becomes-a-last-join.md): any later, and a
 * filter above turns the outer join into an inner one whose right side it then filters, which changes which row is
 * last; any earlier, and `DataFrame.join`, which expects to get back the `Join` that it asked for, fails.
 */
object PlanLastJoin extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.containsPattern(LastJoin.Pattern))
      checked(WarnOfOrderAfterOn(DecorrelateLastJoin(BareMarks(plan)).transformUpWithSubqueries {
        case Join(left, LastJoinRight(order, right), LeftOuter, condition, hint) =>
          val join = HintsInJoin(Join(left, right, LeftOuter, condition, hint))
          ComputeBelowLastJoin(LastJoin(join.left, join.right, order, join.condition, join.hint))
      }))
    else plan

  /** A mark on the left is checked as late as here, because until now its join might have been still to come. */
  private def checked(plan: LogicalPlan): LogicalPlan = {
    plan.foreachWithSubqueries {
      case left: LastJoinLeft => JoineryException.fail(
          "MISPLACED_AS_OF",
          s"${LastJoinAsOf.Name} stands alone in the filter of a LAST JOIN's left side: left.filter(${LastJoinAsOf.Name}(...))" +
            s".join(right.filter(${LastJoinOrder.Name}(...)), on, 'left'). Use last_join(), which writes it.",
          left.time.origin
        )
      case _ =>
    }
    plan
  }
}
