package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions.{Alias, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastJoinTerms}
import io.github.sparkjoinery.planning.MayFail

/**
 * Replaces a LAST JOIN by NULLs if the right side is empty and a key may throw. The side is empty in the plan, or
 * adaptive execution has measured it as empty. Spark does not evaluate the keys of a LEFT JOIN then, either. If no key
 * can throw, the operators give the same answer at no extra cost.
 */
object EmptyRightSide extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformWithPruning(_.containsPattern(LastJoin.Pattern)) { case EmptyRightSide(left) => left }

  /** Returns the left side with NULLs as right columns. */
  def unapply(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case join: LastJoin if EmptySide.is(join.right) && LastJoinTerms.of(join).leftKeys.exists(MayFail(_)) =>
      val nulls = join.output.drop(join.left.output.length).map { column =>
        Alias(Literal(null, column.dataType), column.name)(column.exprId, column.qualifier, Some(column.metadata))
      }
      Some(Project(join.left.output ++ nulls, join.left))
    case _ => None
  }
}
