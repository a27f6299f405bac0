package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.PruneFileSourcePartitions

/** Spark's rule that lists the files of partitioned tables, which is private to its package. */
object PrunePartitions {
  def apply(plan: LogicalPlan): LogicalPlan = PruneFileSourcePartitions(plan)
}
