package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.trees.TreePattern.TreePattern

/**
 * Marks the right child of a LEFT OUTER `Join` that is really a LAST JOIN, from the parser to
 * [[io.github.sparkjoinery.lastjoin.rules.PlanLastJoin]]. It passes its child's rows through unchanged, so the analyzer
 * sees an ordinary join; and because it is a node over the right side alone, ORDER BY is resolved against the right
 * side alone.
 *
 * @param order
 *   the ORDER BY terms, none when any match will do
 */
case class LastJoinRight(order: Seq[SortOrder], child: LogicalPlan) extends UnaryNode {
  override val nodePatterns: Seq[TreePattern] = Seq(LastJoin.Pattern)
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override protected def withNewChildInternal(newChild: LogicalPlan): LastJoinRight = copy(child = newChild)
}
