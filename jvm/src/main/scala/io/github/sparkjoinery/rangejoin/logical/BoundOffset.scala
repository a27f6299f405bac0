package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DoubleType

import io.github.sparkjoinery.expressions.OrderedLong

/** The offset from a term of the stream side to its bound, from a condition on the difference of two terms. */
private[rangejoin] sealed trait BoundOffset {

  /** The bound as a long, in the order of the terms' longs. */
  def bound(probe: Expression, prefix: SharedPrefix): Expression

  /** The offset for the term of the indexed side, if the two sides swap roles. */
  def reversed: BoundOffset

  /**
   * The largest distance of two terms whose difference cannot wrap around. Terms further apart are candidates,
   * regardless of the bounds.
   */
  def reach: Option[Long]

  def sql: String
}

private[rangejoin] case object NoOffset extends BoundOffset {
  override def bound(probe: Expression, prefix: SharedPrefix): Expression = RangeLong(probe, prefix)
  override def reversed: BoundOffset = this
  override def reach: Option[Long] = None
  override def sql: String = ""
}

/** An offset in whole numbers of units, days or microseconds. */
private[rangejoin] case class WholeOffset(by: Long, reach: Option[Long]) extends BoundOffset {
  override def bound(probe: Expression, prefix: SharedPrefix): Expression =
    SaturatedSum(OrderedLong(probe), by)
  override def reversed: BoundOffset = copy(by = SaturatedSum.negated(by))
  override def sql: String = if (by < 0) s" - ${SaturatedSum.negated(by)}" else s" + $by"
}

/**
 * An offset in floating point. The bound is a little wider, because floating point rounds.
 *
 * @param isUpper
 *   true if the bound is an upper one
 * @param rounding
 *   the relative error of a sum or difference
 */
private[rangejoin] case class RoundedOffset(by: Double, isUpper: Boolean, rounding: Double) extends BoundOffset {
  override def bound(probe: Expression, prefix: SharedPrefix): Expression =
    OrderedLong(RoundedSum(Cast(probe, DoubleType), by, isUpper, rounding))
  override def reversed: BoundOffset = copy(by = -by, isUpper = !isUpper)
  override def reach: Option[Long] = None
  override def sql: String = if (by < 0) s" - ${-by}" else s" + $by"
}
