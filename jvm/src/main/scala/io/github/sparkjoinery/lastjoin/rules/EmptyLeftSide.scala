package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.LastJoin

/**
 * A LAST JOIN with nothing on the left, as is known when the query is planned or once adaptive execution has run that
 * side: nothing. Spark's own rule for that knows Spark's joins only. The right side is not read then, and neither its
 * keys nor its filters, which may raise an error, are computed.
 */
object EmptyLeftSide extends Rule[LogicalPlan] {

  /** In adaptive execution; Spark's rule for what is above a relation without rows has run by then. */
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case EmptyLeftSide(nothing) => nothing
      case Filter(_, nothing: LocalRelation) if EmptySide.is(nothing) => nothing
      case project @ Project(_, nothing: LocalRelation) if EmptySide.is(nothing) => LocalRelation(project.output)
    }

  /** A relation without rows, with the columns of the join. */
  def unapply(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case join: LastJoin if EmptySide.is(join.left) => Some(LocalRelation(join.output))
    case _ => None
  }
}
