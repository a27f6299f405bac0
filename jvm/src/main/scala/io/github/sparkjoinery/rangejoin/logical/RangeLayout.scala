package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._

import io.github.sparkjoinery.execution.rows.RowGrouping

/**
 * The terms by which the rows of a range index are grouped and sorted, bound to their places in the row.
 *
 * @param keys
 *   equal on both sides of the join; may be none
 * @param start
 *   the sort key of the rows of a key: the start of an interval, or a point
 * @param end
 *   the end of an interval; None for points
 * @param keepsAll
 *   true if rows that can match nothing are kept, because the join emits them with NULLs
 * @param numFields
 *   number of fields in a row
 */
case class RangeLayout(
    keys: Seq[Expression],
    start: Expression,
    end: Option[Expression],
    keepsAll: Boolean,
    numFields: Int) {

  def longKey: Option[Expression] = RowGrouping.longKey(keys)

  /** True if rows have ends of their own. A point that fails is everywhere, so it is an interval. */
  def hasEnds: Boolean = end.isDefined || RangeLong.mayFail(start)

  /** Start and end as longs. A term that fails is within the bounds of every probe. */
  def bounds(prefix: SharedPrefix): Seq[Expression] =
    Seq(RangeLong.lower(start, prefix), RangeLong.upper(end.getOrElse(start), prefix))

  def canonicalized: RangeLayout =
    copy(keys = keys.map(_.canonicalized), start = start.canonicalized, end = end.map(_.canonicalized))
}
