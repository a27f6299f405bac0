package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, JoinHint, UnaryNode}

/**
 * A join that is not Spark's `Join` and keeps each left row, so that right rows which match none have no effect, and a
 * filter over left columns may go below it.
 */
trait PreservesLeft extends BinaryNode {

  /** What a match fulfils; None: all do. */
  def condition: Option[Expression]
  def hint: JoinHint

  /** Whether the right side will be broadcast, as far as one can tell before it is read. */
  def isBroadcast: Boolean
}

/** Some rows of each key, where a filter over keys keeps all rows of a key or none, and may go below. */
trait SomeRowsOfKeys extends UnaryNode {
  def keys: Seq[Expression]
}
