package io.github.sparkjoinery.window.logical

import org.apache.spark.sql.catalyst.expressions._

import io.github.sparkjoinery.expressions.OrderedLong

/**
 * Expressions over the rows of a window that find hot keys and their cuts.
 *
 * @param keys
 *   the PARTITION BY terms
 * @param order
 *   the first ORDER BY term, along which keys are cut
 */
private[window] case class CutTerms(keys: Seq[Expression], order: SortOrder) {

  /** A hash of the key. */
  def id: Expression = new XxHash64(if (keys.isEmpty) Seq(Literal(0)) else keys)

  /** The hash of the key that Spark's hash partitioning begins with. */
  def spread: Expression = if (keys.isEmpty) Literal(CutTerms.Seed) else new Murmur3Hash(keys)

  /** The order value as a long. */
  def time: Expression = OrderedLong(order.child, order.direction == Descending)

  /** The long for NULL; a value may have the same. */
  def nullTime: Long = if (order.nullOrdering == NullsFirst) Long.MinValue else Long.MaxValue
}

private[window] object CutTerms {
  private val Seed = 42
}
