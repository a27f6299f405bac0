package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.joins.HashJoin
import org.apache.spark.sql.types.LongType

import io.github.sparkjoinery.expressions.OrderedLong

/**
 * How rows are grouped by key and put in order, bound to their places in the row.
 *
 * @param keys
 *   of a group; a row in which one is NULL is left out
 * @param order
 *   of the rows of a group
 * @param time
 *   rows in which it is NULL are left out; it rises, or falls, with the first term of the order
 * @param onlyLast
 *   whether only the last row of each group is kept
 * @param numFields
 *   of a row
 */
case class RowGrouping(
    keys: Seq[Expression],
    order: Seq[SortOrder],
    time: Option[Expression],
    onlyLast: Boolean,
    numFields: Int) {

  def longKey: Option[Expression] = RowGrouping.longKey(keys)
  def longTime: Option[Expression] = RowGrouping.longTime(time, order)

  /** A long that rises with the order, if not strictly. */
  def sortKey: Expression = longTime.orElse(
    if (time.isDefined) None else RowGrouping.longTime(order.headOption.map(_.child), order)).getOrElse(Literal(0L))

  def canonicalized: RowGrouping = copy(
    keys = keys.map(_.canonicalized),
    order = order.map(_.canonicalized.asInstanceOf[SortOrder]),
    time = time.map(_.canonicalized))
}

object RowGrouping {

  /** Keys as one long, where that is possible: the same for both sides of a join, as pairs of keys have one type. */
  def longKey(keys: Seq[Expression]): Option[Expression] = keys match {
    case Seq() => Some(Literal(0L))
    case Seq(key) if OrderedLong.supports(key.dataType) => Some(OrderedLong(key))
    case several =>
      Some(HashJoin.rewriteKeyExpr(several)).collect { case Seq(packed) if packed.dataType == LongType => packed }
  }

  /** A time as a long that rises in the direction of the first term of the order, where that is possible. */
  def longTime(time: Option[Expression], order: Seq[SortOrder]): Option[Expression] =
    time.filter(e => OrderedLong.supports(e.dataType)).map(OrderedLong(_, order.head.direction == Descending))
}

/**
 * How a search compares the times of grouped rows with the time that it is given.
 *
 * @param order
 *   the rows' time, bound to its place in the row, and its direction
 * @param strict
 *   whether a row of just that time is not wanted
 */
case class TimeOrder(order: SortOrder, strict: Boolean)
