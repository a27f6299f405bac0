package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, ResolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastJoinOrder, LastJoinRight, MarkedRight}

/**
 * Resolves the right side of a LAST JOIN in its DataFrame form:
 * {{{
 *   Filter joinery_last_join_order(terms...)        LastJoinRight [terms...]
 *   +- right                                 ==>    +- right
 * }}}
 * A hint above the mark moves below it, where it is still a hint for the join.
 */
object ResolveLastJoinOrder extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case filter @ Filter(marker: LastJoinOrder, child) if marker.resolved =>
        val right = LastJoinRight(marker.order, child)
        right.copyTagsFrom(filter)
        right

      case hint @ ResolvedHint(MarkedRight(_), _) => below(hint.child, hint)
    }

  private def below(side: LogicalPlan, hint: ResolvedHint): LogicalPlan = side match {
    case right: LastJoinRight => right.copy(child = hint.copy(child = right.child))
    case project => project.withNewChildren(project.children.map(below(_, hint)))
  }
}
