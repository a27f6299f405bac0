package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.optimizer.{ColumnPruning, RewritePredicateSubquery}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{EXISTS_SUBQUERY, IN_SUBQUERY}

/**
 * Applies a rule about joins also to those that EXISTS and IN become. Spark makes joins of them in the optimizer's last
 * batches, where no extension has a place; if the rule has something to do, they are made here.
 */
case class AlsoOfSubqueries(rule: Rule[LogicalPlan]) extends Rule[LogicalPlan] {
  override val ruleName: String = rule.ruleName

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val changed = rule(plan)
    if (!changed.containsAnyPattern(EXISTS_SUBQUERY, IN_SUBQUERY)) changed
    else {
      val joins = ColumnPruning(RewritePredicateSubquery(changed))
      val ofJoins = rule(joins)
      if (ofJoins.fastEquals(joins)) changed else ofJoins
    }
  }
}
