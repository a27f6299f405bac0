package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{ColumnPruning, RewritePredicateSubquery}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{EXISTS_SUBQUERY, IN_SUBQUERY}

/**
 * Applies a rule about joins also to those that EXISTS and IN become. Spark makes joins of them in the optimizer's last
 * batches, where no extension has a place; if the rule has something to do, they are made here.
 *
 * @param concerns
 *   whether the rule might have something to do with the join of such a subquery; to make the joins takes time
 */
case class AlsoOfSubqueries(rule: Rule[LogicalPlan], concerns: SubqueryExpression => Boolean = _ => true)
  extends Rule[LogicalPlan] {
  override val ruleName: String = rule.ruleName

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsAnyPattern(EXISTS_SUBQUERY, IN_SUBQUERY)) rule(plan)
    else {
      val concerned = subqueriesOf(plan).filter(concerns)
      if (concerned.isEmpty) rule(plan)
      else {
        // What is found out about a join has to outlast it, if it is made once more by Spark.
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
