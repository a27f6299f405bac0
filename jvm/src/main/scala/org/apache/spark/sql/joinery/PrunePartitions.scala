package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{AS_OF_JOIN, JOIN}
import org.apache.spark.sql.execution.datasources.PruneFileSourcePartitions

/**
 * Runs Spark's rule that lists the files of partitioned tables, slightly earlier than Spark does. A filter is then
 * built from, or checked against, the same files as the join reads. (This object is in Spark's package because the rule
 * is private to it.)
 */
object PrunePartitions extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if ((JoineryConf.runtimeFilterBuild || JoineryConf.store.nonEmpty) && plan.containsAnyPattern(
        JOIN,
        AS_OF_JOIN) && plan.exists(isPartitioned))
      PruneFileSourcePartitions(plan)
    else plan

  /** True for a scan of a partitioned table. Spark's rule visits every node of the plan, which most plans can skip. */
  private def isPartitioned(node: LogicalPlan): Boolean = node match {
    case FilesOf(files) => files.partitionSchema.nonEmpty
    case _ => false
  }
}
