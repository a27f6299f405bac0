package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._

import io.github.sparkjoinery.execution.rows.RowGrouping

/**
 * What the rows of a range index are filed under, bound to their places in the row.
 *
 * @param keys
 *   equal on both sides of the join; may be none
 * @param start
 *   what the rows of a key are sorted by: where an interval begins, or a point
 * @param end
 *   where an interval ends; None for points
 * @param keepsAll
 *   whether rows that can match nothing are kept, as the join gives them out beside NULLs
 * @param numFields
 *   of a row
 */
case class RangeLayout(
    keys: Seq[Expression],
    start: Expression,
    end: Option[Expression],
    keepsAll: Boolean,
    numFields: Int) {

  def longKey: Option[Expression] = RowGrouping.longKey(keys)

  /** Whether rows have ends of their own. A point that fails is everywhere, and so an interval. */
  def hasEnds: Boolean = end.isDefined || RangeLong.mayFail(start)

  /** Start and end as longs; what cannot be computed is within the bounds of every probe. */
  def bounds(prefix: SharedPrefix): Seq[Expression] =
    Seq(RangeLong.lower(start, prefix), RangeLong.upper(end.getOrElse(start), prefix))

  def canonicalized: RangeLayout =
    copy(keys = keys.map(_.canonicalized), start = start.canonicalized, end = end.map(_.canonicalized))
}
