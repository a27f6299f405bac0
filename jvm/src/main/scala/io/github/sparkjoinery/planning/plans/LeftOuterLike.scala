package io.github.sparkjoinery.planning.plans

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, JoinHint}

/**
 * A join that preserves its left side and is not Spark's `Join`. Right rows without a match have no effect, and a
 * filter over left columns may move below the join.
 */
trait LeftOuterLike extends BinaryNode {

  /** The condition of a match; None if all rows match. */
  def condition: Option[Expression]
  def hint: JoinHint

  /** True if the right side will be broadcast, as far as its statistics tell. */
  def isBroadcast: Boolean
}
