package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern

/**
 * Marks the right child of a LEFT OUTER `Join` that is really a LAST JOIN. The parser adds the mark,
 * [[io.github.sparkjoinery.lastjoin.rules.PlanLastJoin]] removes it. The mark passes its child's rows through, so the
 * analyzer sees an ordinary join. It is a node over the right side alone, so the analyzer resolves ORDER BY against
 * that side alone.
 *
 * @param order
 *   the ORDER BY terms; empty if any matching row will do
 */
case class LastJoinRight(order: Seq[SortOrder], child: LogicalPlan) extends UnaryNode {
  override val nodePatterns: Seq[TreePattern] = Seq(LastJoin.Pattern)
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override protected def withNewChildInternal(newChild: LogicalPlan): LastJoinRight = copy(child = newChild)
}
