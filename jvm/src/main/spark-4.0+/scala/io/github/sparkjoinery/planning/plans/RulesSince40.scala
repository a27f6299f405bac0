package io.github.sparkjoinery.planning.plans

import org.apache.spark.sql.catalyst.optimizer.{PullOutNestedDataOuterRefExpressions, RewriteWithExpression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/** Rules of Spark's optimizer that are new in Spark 4.0, each for expressions that are new as well. */
object RulesSince40 {
  val beforeDecorrelation: Seq[Rule[LogicalPlan]] = Seq(PullOutNestedDataOuterRefExpressions)
  val common: Seq[Rule[LogicalPlan]] = Seq(RewriteWithExpression)
}
