package io.github.sparkjoinery.rangejoin.stored

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

import io.github.sparkjoinery.planning.plans.PassThroughNode

/**
 * Marks a side of a range join that has a valid stored index. Its rows are those of its child.
 *
 * @param stored
 *   the index
 */
case class StoredRangeSide(child: LogicalPlan)(val stored: StoredRangeIndex) extends UnaryNode with PassThroughNode {
  override def output: Seq[Attribute] = child.output

  /** True if the index still has exactly the side's columns; the optimizer may have pruned some since. */
  def isCurrent: Boolean = output.map(_.exprId) == stored.output.map(_.exprId)

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(stored)
  override protected def withNewChildInternal(newChild: LogicalPlan): StoredRangeSide = copy(newChild)(stored)
}
