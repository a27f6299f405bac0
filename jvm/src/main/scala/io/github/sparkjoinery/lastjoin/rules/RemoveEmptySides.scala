package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions.{Alias, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, QueryStageExec}

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastJoinTerms, LastRowPerKey}
import io.github.sparkjoinery.planning.terms.MayFail

/**
 * Removes a LAST JOIN that has an empty side, as Spark's `PropagateEmptyRelation` removes a LEFT JOIN: without left
 * rows it is empty, without right rows it is the left side with NULLs. Keys that would raise an error are not computed;
 * other keys without right rows are left to the operators, which are as good.
 */
object RemoveEmptySides extends Rule[LogicalPlan] {

  /** In adaptive execution, where Spark's rule for Filter and Project above an empty relation has run by then. */
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(LastJoin.Pattern)) {
      case RemoveEmptySides(rest) => rest
      case Filter(_, nothing: LocalRelation) if isEmpty(nothing) => nothing
      case project @ Project(_, nothing: LocalRelation) if isEmpty(nothing) => LocalRelation(project.output)
    }

  /** The plan that replaces a LAST JOIN with an empty side. */
  def unapply(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case join: LastJoin if isEmpty(join.left) => Some(LocalRelation(join.output))
    case join: LastJoin if isEmpty(join.right) && LastJoinTerms.split(join).leftKeys.exists(MayFail(_)) =>
      val nulls = join.output.drop(join.left.output.length).map { column =>
        Alias(Literal(null, column.dataType), column.name)(column.exprId, column.qualifier, Some(column.metadata))
      }
      Some(Project(join.left.output ++ nulls, join.left))
    case _ => None
  }

  private def isEmpty(side: LogicalPlan): Boolean = side match {
    case local: LocalRelation => local.data.isEmpty && !local.isStreaming
    case stage: LogicalQueryStage => isThere(stage.physicalPlan) && stage.stats.rowCount.contains(BigInt(0))
    case _: Project | _: Filter | _: LastRowPerKey => isEmpty(side.children.head)
    case _ => false
  }

  private def isThere(plan: SparkPlan): Boolean =
    plan.collectFirst { case stage: QueryStageExec => stage.isMaterialized }.contains(true)
}
