package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.NestedColumnAliasing.rewritePlanIfSubsetFieldsUsed
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastRowPerKey}

/**
 * Prunes unused struct fields below LAST JOIN, as Spark does below a LEFT JOIN. Spark's own rule has a list of nodes
 * below which it prunes, and ours are not on it.
 */
object NestedFieldsOfLastJoin extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsPattern(LastJoin.Pattern) || !conf.nestedSchemaPruningEnabled) plan
    else
      plan.transformDown {
        case project @ Project(list, Ours(terms)) => pruned(project, list ++ terms)
        case project @ Project(list, Filter(condition, Ours(terms))) => pruned(project, list ++ terms :+ condition)
      }

  private def pruned(project: Project, used: Seq[Expression]): LogicalPlan =
    rewritePlanIfSubsetFieldsUsed(project, used, Nil).getOrElse(project)

  private object Ours {
    def unapply(node: LogicalPlan): Option[Seq[Expression]] = node match {
      case _: LastJoin | _: LastRowPerKey => Some(node.expressions)
      case _ => None
    }
  }
}
