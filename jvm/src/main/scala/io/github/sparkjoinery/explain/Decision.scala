package io.github.sparkjoinery.explain

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan

/** Why a strategy of Joinery took a node as it did, or left it to Spark: one line, kept with the logical node. */
object Decision extends Logging {
  private val Tag = TreeNodeTag[String]("joinery_decision")

  def record(node: LogicalPlan, reason: String): Unit = {
    if (!node.getTagValue(Tag).contains(reason)) logInfo(s"${node.nodeName}: $reason")
    node.setTagValue(Tag, reason)
  }

  def of(plan: SparkPlan): Option[String] = plan.logicalLink.flatMap(_.getTagValue(Tag))
}
