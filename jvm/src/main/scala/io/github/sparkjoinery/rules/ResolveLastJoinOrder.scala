package io.github.sparkjoinery.rules

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.logical.{LastJoin, LastJoinOrder, LastJoinRight}

/**
 * The DataFrame form of LAST JOIN's right side:
 * {{{
 *   Filter joinery_last_join_order(terms...)        LastJoinRight [terms...]
 *   +- right                                 ==>    +- right
 * }}}
 */
object ResolveLastJoinOrder extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case filter @ Filter(marker: LastJoinOrder, child) if marker.resolved =>
        val right = LastJoinRight(marker.order, child)
        right.copyTagsFrom(filter)
        right
    }
}
