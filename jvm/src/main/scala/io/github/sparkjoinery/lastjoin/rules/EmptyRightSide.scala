package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions.{Alias, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastJoinTerms}
import io.github.sparkjoinery.planning.MayFail

/**
 * A LAST JOIN with nothing on the right, as is known when the query is planned or once adaptive execution has run that
 * side: NULLs for each left row. So its keys, which may raise an error, are not computed, as Spark does not for a LEFT
 * JOIN. Where they cannot, the operators are as good.
 */
object EmptyRightSide extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformWithPruning(_.containsPattern(LastJoin.Pattern)) { case EmptyRightSide(left) => left }

  /** The left side with NULLs in place of right columns. */
  def unapply(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case join: LastJoin if EmptySide.is(join.right) && LastJoinTerms.of(join).leftKeys.exists(MayFail(_)) =>
      val nulls = join.output.drop(join.left.output.length).map { column =>
        Alias(Literal(null, column.dataType), column.name)(column.exprId, column.qualifier, Some(column.metadata))
      }
      Some(Project(join.left.output ++ nulls, join.left))
    case _ => None
  }
}
