package io.github.sparkjoinery.rules

import org.apache.spark.sql.catalyst.optimizer.EliminateResolvedHint
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.logical.{LastJoin, LastJoinRight}

/**
 * {{{
 *   Join LeftOuter, condition, hint          LastJoin order, condition, hint
 *   :- left                          ==>     :- left
 *   +- LastJoinRight order                   +- right
 *      +- right
 * }}}
 *
 * It runs between analyzer and optimizer (docs/decisions/0002-when-a-join-becomes-a-last-join.md): any later, and a filter
 * above turns the outer join into an inner one whose right side it then filters, which changes which row is last;
 * any earlier, and `DataFrame.join`, which expects to get back the `Join` that it asked for, fails.
 */
object PlanLastJoin extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.containsPattern(LastJoin.Pattern)) {
      plan.transformUpWithSubqueries {
        case Join(left, LastJoinRight(order, right), LeftOuter, condition, hint) =>
          // Spark keeps hints as nodes below a join until its optimizer moves them into the join: so here.
          EliminateResolvedHint(Join(left, right, LeftOuter, condition, hint)) match {
            case join: Join => LastJoin(join.left, join.right, order, join.condition, join.hint)
          }
      }
    } else {
      plan
    }
}
