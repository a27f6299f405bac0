package io.github.sparkjoinery.planning

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.trees.{TreeNode, TreeNodeTag}
import org.apache.spark.sql.execution.SparkPlan

/** Why a strategy of Joinery took a node as it did, or left it to Spark: one line, kept with the logical node or an expression of it. */
object Decision extends Logging {
  private val Tag = TreeNodeTag[String]("joinery_decision")

  def record(node: TreeNode[_], reason: String): Unit = {
    if (!node.getTagValue(Tag).contains(reason)) logInfo(s"${node.nodeName}: $reason")
    node.setTagValue(Tag, reason)
  }

  def of(plan: SparkPlan): Option[String] = plan.logicalLink.flatMap(_.getTagValue(Tag))

  def of(expression: Expression): Option[String] = expression.getTagValue(Tag)
}
