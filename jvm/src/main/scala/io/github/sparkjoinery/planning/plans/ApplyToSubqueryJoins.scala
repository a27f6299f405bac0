package io.github.sparkjoinery.planning.plans

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{ColumnPruning, RewritePredicateSubquery}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{EXISTS_SUBQUERY, IN_SUBQUERY}

import io.github.sparkjoinery.planning.explain.Decision

/**
 * Applies a rule about joins also to the joins of EXISTS and IN. Spark builds these joins in the last batches of its
 * optimizer, where extensions cannot add rules. This rule builds them itself, but keeps them only if `rule` changes the
 * plan.
 *
 * @param concerns
 *   true if `rule` may change the join of such a subquery; building the joins takes time
 */
case class ApplyToSubqueryJoins(rule: Rule[LogicalPlan], concerns: SubqueryExpression => Boolean)
  extends Rule[LogicalPlan] {
  override val ruleName: String = rule.ruleName

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsAnyPattern(EXISTS_SUBQUERY, IN_SUBQUERY)) rule(plan)
    else {
      val concerned = subqueriesOf(plan).filter(concerns)
      if (concerned.isEmpty) rule(plan)
      else {
        // Reasons must outlive this join, because Spark may build it again.
        concerned.foreach(subquery => Decision.keepForJoinWith(subquery.plan))
        val joins = ColumnPruning(RewritePredicateSubquery(plan))
        val changed = rule(joins)
        if (changed.fastEquals(joins)) plan else changed
      }
    }

  private def subqueriesOf(plan: LogicalPlan): Seq[SubqueryExpression] =
    plan.collect { case node if node.containsAnyPattern(EXISTS_SUBQUERY, IN_SUBQUERY) => node.expressions }.flatten
      .flatMap(_.collect { case subquery @ (_: Exists | _: ListQuery) => subquery.asInstanceOf[SubqueryExpression] })
}
