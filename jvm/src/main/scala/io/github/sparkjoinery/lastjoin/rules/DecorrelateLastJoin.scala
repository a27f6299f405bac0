package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.analysis.{EliminateSubqueryAliases, EliminateView}
import org.apache.spark.sql.catalyst.expressions.{SubExprUtils, SubqueryExpression}
import org.apache.spark.sql.catalyst.optimizer.{
  InlineCTE,
  OptimizeOneRowRelationSubquery,
  PullOutNestedDataOuterRefExpressions,
  PullupCorrelatedPredicates
}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.LastJoinRight

/**
 * Takes columns of an outer query out of the left side and the ON of LAST JOINs in subqueries, as Spark does for a LEFT
 * OUTER JOIN: the left side gets them as columns of its own. Spark's decorrelation knows its own nodes only, so that it
 * has to run as long as a LAST JOIN still is such a join, that is before [[PlanLastJoin]] and not in the optimizer.
 * What Spark does before it to any plan is done before it here.
 *
 * No part of ON leaves the join, which would change which row is last: Spark takes equalities out of inner joins only.
 */
private[rules] object DecorrelateLastJoin extends Rule[LogicalPlan] {

  private val rules: Seq[Rule[LogicalPlan]] = Seq(
    EliminateSubqueryAliases,
    EliminateView,
    InlineCTE(),
    OptimizeOneRowRelationSubquery,
    PullOutNestedDataOuterRefExpressions,
    PullupCorrelatedPredicates)

  override def apply(plan: LogicalPlan): LogicalPlan = if (isNeeded(plan)) decorrelated(plan) else plan

  private def isNeeded(plan: LogicalPlan): Boolean = {
    var found = false
    plan.foreachWithSubqueries {
      case join @ Join(_, _: LastJoinRight, LeftOuter, _, _) => found ||= SubExprUtils.hasOuterReferences(join)
      case _ =>
    }
    found
  }

  /** A subquery in a subquery comes after the one that it is in, whose columns it refers to. */
  private def decorrelated(plan: LogicalPlan): LogicalPlan =
    rules.foldLeft(plan)((plan, rule) => rule(plan)).transformAllExpressions { case subquery: SubqueryExpression =>
      subquery.withNewPlan(apply(subquery.plan))
    }
}
