package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * The right side of an as-of join, ready to be shuffled by part of time: each row with its part's label, and in each
 * part also the prevailing row at its beginning, carried over from the parts before it. Rows without a time are left
 * out.
 *
 * @param part
 *   the column with the label
 * @param time
 *   a long over the child; NULL where a row matches nothing
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
