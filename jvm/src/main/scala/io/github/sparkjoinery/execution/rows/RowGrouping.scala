package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.joins.HashJoin
import org.apache.spark.sql.types.LongType

import io.github.sparkjoinery.expressions.OrderedLong

/**
 * How rows are grouped by key and ordered. All expressions are bound to the row.
 *
 * @param keys
 *   the key of a group; rows with a NULL in it are skipped
 * @param order
 *   the order of the rows within a group
 * @param time
 *   rows where it is NULL are skipped; it must be monotonic in the first term of `order`
 * @param onlyLast
 *   true to keep only the last row of each group
 * @param numFields
 *   number of fields in a row
 */
case class RowGrouping(
    keys: Seq[Expression],
    order: Seq[SortOrder],
    time: Option[Expression],
    onlyLast: Boolean,
    numFields: Int) {

  def longKey: Option[Expression] = RowGrouping.longKey(keys)
  def longTime: Option[Expression] = RowGrouping.longTime(time, order)

  /** A long that never decreases along the order; rows that differ in the order may have the same long. */
  def sortKey: Expression = longTime.orElse(
    if (time.isDefined) None else RowGrouping.longTime(order.headOption.map(_.child), order)).getOrElse(Literal(0L))

  def canonicalized: RowGrouping = copy(
    keys = keys.map(_.canonicalized),
    order = order.map(_.canonicalized.asInstanceOf[SortOrder]),
    time = time.map(_.canonicalized))
}

object RowGrouping {

  /** Packs the keys into one long, if possible. Both sides of a join agree, since their key types are equal. */
  def longKey(keys: Seq[Expression]): Option[Expression] = keys match {
    case Seq() => Some(Literal(0L))
    case Seq(key) if OrderedLong.supports(key.dataType) => Some(OrderedLong(key))
    case several =>
      Some(HashJoin.rewriteKeyExpr(several)).collect { case Seq(packed) if packed.dataType == LongType => packed }
  }

  /** Converts the time to a long that increases in the direction of the first term of the order, if possible. */
  def longTime(time: Option[Expression], order: Seq[SortOrder]): Option[Expression] =
    time.filter(e => OrderedLong.supports(e.dataType)).map(OrderedLong(_, order.head.direction == Descending))
}

/**
 * How a search compares the times of grouped rows with a given time.
 *
 * @param order
 *   the rows' time, bound to the row, and its direction
 * @param strict
 *   true if a row at exactly the given time is excluded
 */
case class TimeOrder(order: SortOrder, strict: Boolean)
