package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern

/**
 * Marks the left child of a LEFT OUTER `Join` that is really a point-in-time LAST JOIN. The mark stays from
 * [[LastJoinAsOf]] to [[io.github.sparkjoinery.lastjoin.rules.PlanLastJoin]]. [[LastJoinRight]] marks the right child.
 *
 * @param time
 *   compared with the first ORDER BY term
 * @param tolerance
 *   the largest allowed distance between the two
 */
case class LastJoinLeft(time: Expression, tolerance: Option[Expression], child: LogicalPlan) extends UnaryNode {
  override val nodePatterns: Seq[TreePattern] = Seq(LastJoin.Pattern)
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override protected def withNewChildInternal(newChild: LogicalPlan): LastJoinLeft = copy(child = newChild)
}
