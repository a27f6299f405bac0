package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter, UsingJoin}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern

import io.github.sparkjoinery.lastjoin.logical.{AsOfMatch, AsOfRight, LastJoin}

/**
 * Keeps the MATCH_CONDITION of an ASOF JOIN while Spark resolves USING into a new join without it. Parameters must be
 * bound before, because Spark does not find them inside the mark.
 */
object KeepMatchCondition extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case join @ Join(left, AsOfRight(right, AsOfRight.BeforeUsing), _: UsingJoin, Some(condition), _)
          if left.resolved && right.resolved && !condition.containsPattern(TreePattern.PARAMETER) =>
        join.copy(right = AsOfRight(right, AsOfRight.Held(condition)), condition = None)

      case join @ Join(_, AsOfRight(right, AsOfRight.Held(held: AsOfMatch)), Inner | LeftOuter, equalities, _) =>
        join.copy(right = AsOfRight(right, AsOfRight.Ready), condition = Some(held.copy(on = equalities)))
    }
}
