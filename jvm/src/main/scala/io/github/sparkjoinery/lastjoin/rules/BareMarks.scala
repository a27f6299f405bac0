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
 * Columns that a side does not show, but that decide which row is last, are projected away above the join. The
 * condition of a point in time is written where [[ResolveLastJoinAsOf]] could not because of them: in the analyzer,
 * `DataFrame.join` expects to get back the `Join` that it asked for, without a projection above it.
 */
private[rules] object BareMarks extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUpWithSubqueries {
    case join @ Join(_, MarkedRight(mark), LeftOuter, _, _) =>
      val bare = of(join, mark)
      if (bare.sameOutput(join)) bare else Project(join.output, bare)
  }

  /** @param mark of the join's right side */
  def of(join: Join, mark: LastJoinRight): Join = join.left match {
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
