package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.analysis.{EliminateSubqueryAliases, EliminateView}
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.optimizer.{
  OptimizeOneRowRelationSubquery,
  PullupCorrelatedPredicates,
  RewritePredicateSubquery
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.planning.plans.RulesSince40

/**
 * {{{
 *   Project id, id IN (SELECT x FROM t) AS c       Project id, exists AS c
 *   +- Limit 5                                     +- Join ExistenceJoin(exists), id = x
 *      +- Sort id                            ==>      :- Limit 5
 *                                                     |  +- Sort id
 *                                                     +- Project x
 *                                                        +- t
 * }}}
 *
 * Spark moves a projection below a limit before it turns the projection's subqueries into joins. The join is then
 * between the limit and its sort, and the limit takes other rows. Here the join is made first.
 */
private[rules] object JoinSubqueriesAboveLimit {

  private val rules: Seq[Rule[LogicalPlan]] =
    Seq(EliminateSubqueryAliases, EliminateView, OptimizeOneRowRelationSubquery) ++
      RulesSince40.beforeDecorrelation ++ Seq(PullupCorrelatedPredicates, RewritePredicateSubquery)

  def apply(project: Project): LogicalPlan =
    if (project.child.exists(isLimit) && project.projectList.exists(
        SubqueryExpression.hasInOrCorrelatedExistsSubquery)) {
      // A leaf stands for the child, which the rules must not change.
      val leaf = LocalRelation(project.child.output)
      rules.foldLeft(project.copy(child = leaf): LogicalPlan)((plan, rule) => rule(plan)).transformUp {
        case relation: LocalRelation if relation eq leaf => project.child
      }
    } else project

  private def isLimit(plan: LogicalPlan): Boolean = plan match {
    case _: GlobalLimit | _: LocalLimit | _: Offset => true
    case _ => false
  }
}
