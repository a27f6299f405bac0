package io.github.sparkjoinery.planning.explain

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

object ExplainReport {

  /** Adds nothing to EXPLAIN: before Spark 4.0 it has no place for others. `joinery explain` shows the report. */
  object Show extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = plan
  }
}
