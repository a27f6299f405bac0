package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * The right side of an as-of join, prepared for a shuffle by time part. Each row has the label of its part. Each part
 * also gets the last row before its start, carried over from earlier parts. Rows without a time are dropped.
 *
 * @param part
 *   the column with the label
 * @param time
 *   a long over the child; NULL for rows that match nothing
 * @param cuts,labels
 *   see [[TimePart]]
 * @param order
 *   the join's ORDER BY
 */
case class CarryOver(
    part: Attribute,
    time: Expression,
    cuts: Expression,
    labels: Seq[Int],
    order: Seq[SortOrder],
    child: LogicalPlan)
  extends UnaryNode {
  override def output: Seq[Attribute] = child.output :+ part
  override def producedAttributes: AttributeSet = AttributeSet(part)
  override protected def withNewChildInternal(newChild: LogicalPlan): CarryOver = copy(child = newChild)
}
