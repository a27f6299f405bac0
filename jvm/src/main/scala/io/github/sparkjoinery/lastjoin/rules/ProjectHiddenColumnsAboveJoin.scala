package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoinAsOfCondition, LastJoinRight, MarkedLeft, MarkedRight}

/**
 * {{{
 *   Join LeftOuter, on                     Project l.*, r.*
 *   :- Project l.*                         +- Join LeftOuter, on AND r.ts <= l.t
 *   :  +- LastJoinLeft l.t           ==>      :- left
 *   :     +- left                             +- LastJoinRight [r.ts]
 *   +- Project r.*                               +- right
 *      +- LastJoinRight [r.ts]
 *         +- right
 * }}}
 *
 * Moves the projections of hidden columns above the join. A hidden column decides which row is last, but the side does
 * not show it. The rule also adds the point-in-time condition over such columns. [[ResolveLastJoinAsOf]] cannot add it
 * in the analyzer, because `DataFrame.join` expects the `Join` that it built, without a projection above.
 */
private[rules] object ProjectHiddenColumnsAboveJoin extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUpWithSubqueries {
    case join @ Join(_, MarkedRight(mark), LeftOuter, _, _) =>
      val bare = complete(join, mark)
      if (bare.sameOutput(join)) bare else Project(join.output, bare)
  }

  /** @param mark the mark of the join's right side */
  def complete(join: Join, mark: LastJoinRight): Join = join.left match {
    case MarkedLeft(left) =>
      val on = join.condition match {
        case Some(on) if on.exists(_.isInstanceOf[LastJoinAsOfCondition]) => withoutMark(on)
        case on => and(on, PointInTime.resolved(left, mark))
      }
      join.copy(left = left.child, right = mark, condition = Some(on))
    case _ => join.copy(right = mark)
  }

  private def withoutMark(on: Expression): Expression = on.transform {
    case LastJoinAsOfCondition(comparison) => comparison
  }

  private[rules] def and(on: Option[Expression], asOf: Expression): Expression = on.map(And(_, asOf)).getOrElse(asOf)
}
