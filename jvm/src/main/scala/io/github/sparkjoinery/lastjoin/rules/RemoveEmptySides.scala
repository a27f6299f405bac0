package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions.{Alias, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, QueryStageExec}

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastJoinTerms, LastRowPerKey}
import io.github.sparkjoinery.planning.terms.MayFail

/**
 * Removes a LAST JOIN that has an empty side, as Spark's `PropagateEmptyRelation` removes a LEFT JOIN. The join is
 * empty without left rows, and it is the left side with NULLs without right rows. A join without right rows is only
 * removed if its keys may raise an error, as they are then not computed. The operators handle other keys as well.
 */
object RemoveEmptySides extends Rule[LogicalPlan] {

  /** Also removes Filter and Project above an empty relation: adaptive execution runs Spark's rule for it earlier. */
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
