package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.analysis.{EliminateSubqueryAliases, EliminateView}
import org.apache.spark.sql.catalyst.expressions.{SubExprUtils, SubqueryExpression}
import org.apache.spark.sql.catalyst.optimizer.{InlineCTE, OptimizeOneRowRelationSubquery, PullupCorrelatedPredicates}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import io.github.sparkjoinery.lastjoin.logical.LastJoinRight
import io.github.sparkjoinery.planning.plans.RulesSince40

/**
 * Decorrelates the left side and the ON of LAST JOINs in subqueries, as Spark does for a LEFT OUTER JOIN. The left side
 * gets the columns of the outer query as its own columns. Spark's decorrelation knows only Spark's nodes. This rule
 * therefore runs before [[PlanLastJoin]], while the LAST JOIN is still a `Join`. It first applies the rules that Spark
 * applies before its decorrelation.
 *
 * No part of ON leaves the join, which could change the last row. Spark takes equalities out of inner joins only.
 */
private[rules] object DecorrelateLastJoin extends Rule[LogicalPlan] {

  private val rules: Seq[Rule[LogicalPlan]] =
    Seq(EliminateSubqueryAliases, EliminateView, InlineCTE(), OptimizeOneRowRelationSubquery) ++
      RulesSince40.beforeDecorrelation :+ PullupCorrelatedPredicates

  override def apply(plan: LogicalPlan): LogicalPlan = if (isNeeded(plan)) decorrelated(plan) else plan

  private def isNeeded(plan: LogicalPlan): Boolean = {
    var found = false
    plan.collectWithSubqueries {
      case join @ Join(_, _: LastJoinRight, LeftOuter, _, _) => found ||= SubExprUtils.hasOuterReferences(join)
      case _ =>
    }
    found
  }

  /** Decorrelates from the outside in: a nested subquery refers to columns of the subquery around it. */
  private def decorrelated(plan: LogicalPlan): LogicalPlan =
    rules.foldLeft(plan)((plan, rule) => rule(plan)).transformAllExpressions { case subquery: SubqueryExpression =>
      subquery.withNewPlan(apply(subquery.plan))
    }
}
