package io.github.sparkjoinery.planning.plans

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/** Rules of Spark's optimizer that are new in Spark 4.0: none here. */
object RulesSince40 {
  val beforeDecorrelation: Seq[Rule[LogicalPlan]] = Nil
  val common: Seq[Rule[LogicalPlan]] = Nil
}
