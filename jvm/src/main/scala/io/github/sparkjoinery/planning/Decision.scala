package io.github.sparkjoinery.planning

import scala.collection.immutable.ListMap

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.trees.{TreeNode, TreeNodeTag}
import org.apache.spark.sql.execution.SparkPlan

/**
 * Why a capability of Joinery took a node as it did, or left it to Spark: one line for each capability that had
 * something to say, kept with the logical node or an expression of it.
 */
object Decision extends Logging {
  private val Tag = TreeNodeTag[ListMap[String, String]]("joinery_decision")

  // Capabilities. Each has one reason per node: what it says later replaces what it said before.
  val LastJoin = "last join"
  val RangeJoin = "range join"
  val StoredRangeIndex = "stored range index"
  val RuntimeFilter = "runtime filter"
  val BuiltFilter = "built filter"
  val Window = "window"

  /**
   * @param capability
   *   whose decision it is
   * @param reason
   *   one line
   */
  def record(node: TreeNode[_], capability: String, reason: String): Unit = {
    val reasons = reasonsOf(node)
    if (!reasons.get(capability).contains(reason)) logInfo(s"${node.nodeName}: $reason")
    node.setTagValue(Tag, reasons.updated(capability, reason))
  }

  /** All capabilities' reasons for an operator, in one line. */
  def of(plan: SparkPlan): Option[String] = plan.logicalLink.flatMap(of(_: TreeNode[_]))

  def of(expression: Expression): Option[String] = of(expression: TreeNode[_])

  private def of(node: TreeNode[_]): Option[String] = Option(reasonsOf(node).values.mkString("; ")).filter(_.nonEmpty)

  private def reasonsOf(node: TreeNode[_]): ListMap[String, String] = node.getTagValue(Tag).getOrElse(ListMap.empty)
}
