package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Statistics, UnaryNode}

import io.github.sparkjoinery.planning.SomeRowsOfKeys

/**
 * Of the rows of each key, the last one; it may leave more than that, and it may leave out rows with a NULL key. Put
 * below the right side of a LAST JOIN that looks at no other row, so that few rows are shuffled or broadcast.
 *
 * @param keys
 *   the right side's join keys
 * @param order
 *   the join's ORDER BY
 */
case class LastRowPerKey(keys: Seq[Expression], order: Seq[SortOrder], child: LogicalPlan) extends UnaryNode
  with SomeRowsOfKeys {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows

  /** With whether they were measured at run time, which decides on broadcasts. */
  override def stats: Statistics = child.stats
  override protected lazy val validConstraints: ExpressionSet = child.constraints
  override protected def withNewChildInternal(newChild: LogicalPlan): LastRowPerKey = copy(child = newChild)
}
