package org.apache.spark.sql.joinery

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{AS_OF_JOIN, JOIN}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation, PruneFileSourcePartitions}

/**
 * Spark's rule that lists the files of partitioned tables, a little earlier than Spark runs it: what a filter is built
 * of, or a stored one is compared with, is then what the join reads. (In Spark's package because the rule is private to
 * it.)
 */
object PrunePartitions extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if ((JoineryConf.runtimeFilterBuild || JoineryConf.store.nonEmpty) && plan.containsAnyPattern(
        JOIN,
        AS_OF_JOIN) && plan.exists(isPartitioned))
      PruneFileSourcePartitions(plan)
    else plan

  /** Spark's rule takes every node of a plan apart, and there is something to prune in hardly any. */
  private def isPartitioned(node: LogicalPlan): Boolean = node match {
    case LogicalRelation(files: HadoopFsRelation, _, _, _, _) => files.partitionSchema.nonEmpty
    case _ => false
  }
}
