package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Statistics, UnaryNode}

import io.github.sparkjoinery.planning.plans.SomeRowsOfKeys

/**
 * Reduces the rows to the last row of each key. It may keep more rows than that, and it may drop rows with a NULL key.
 * A rule puts it below the right side of a LAST JOIN that needs no other row. Fewer rows are then shuffled or
 * broadcast.
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

  /** Passes on the child's statistics with `isRuntime`, which decides on broadcasts. */
  override def stats: Statistics = child.stats
  override protected lazy val validConstraints: ExpressionSet = child.constraints
  override protected def withNewChildInternal(newChild: LogicalPlan): LastRowPerKey = copy(child = newChild)
}
