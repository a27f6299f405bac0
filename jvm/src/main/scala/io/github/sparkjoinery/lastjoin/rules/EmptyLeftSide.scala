package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.LastJoin

/**
 * Replaces a LAST JOIN with an empty left side by an empty relation. The side is empty in the plan, or adaptive
 * execution has measured it as empty. Spark's own rule handles Spark's joins only. The right side is then not read, and
 * its keys and filters, which may throw, are not evaluated.
 */
object EmptyLeftSide extends Rule[LogicalPlan] {

  /**
   * Removes empty joins under adaptive execution. Spark's rule for nodes above an empty relation has already run then.
   */
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case EmptyLeftSide(nothing) => nothing
      case Filter(_, nothing: LocalRelation) if EmptySide.is(nothing) => nothing
      case project @ Project(_, nothing: LocalRelation) if EmptySide.is(nothing) => LocalRelation(project.output)
    }

  /** Returns an empty relation with the columns of the join. */
  def unapply(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case join: LastJoin if EmptySide.is(join.left) => Some(LocalRelation(join.output))
    case _ => None
  }
}
