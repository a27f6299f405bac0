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
 * The rule runs between analyzer and optimizer (docs/decisions/0002-when-a-join-becomes-a-last-join.md). The optimizer
 * would turn an outer join below a filter into an inner join. It would then push the filter to the right side, which
 * changes the last row. The analyzer is too early: `DataFrame.join` expects the `Join` that it built, and fails
 * otherwise.
 */
object PlanLastJoin extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.containsPattern(LastJoin.Pattern))
      checked(WarnOfOrderAfterOn(DecorrelateLastJoin(ProjectHiddenColumnsAboveJoin(plan)).transformUpWithSubqueries {
        case Join(left, LastJoinRight(order, right), LeftOuter, condition, hint) =>
          val join = EliminateHintsBelowJoin(Join(left, right, LeftOuter, condition, hint))
          ComputeBelowLastJoin(LastJoin(join.left, join.right, order, join.condition, join.hint))
      }))
    else plan

  /**
   * Rejects a mark on the left side without a join. It cannot be checked earlier, because the join might still follow.
   */
  private def checked(plan: LogicalPlan): LogicalPlan = {
    plan.collectWithSubqueries {
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
