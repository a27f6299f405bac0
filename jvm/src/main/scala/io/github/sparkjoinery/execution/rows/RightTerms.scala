package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.joins.HashJoin
import org.apache.spark.sql.types.LongType

import io.github.sparkjoinery.expressions.OrderedLong

/**
 * What decides how right rows are filed, bound to their places in the row.
 *
 * @param keys      see [[LastJoinTerms]]
 * @param order     ORDER BY and tie-breaker
 * @param asOfTerm  rows in which it is NULL match nothing
 * @param lastOfKey whether only the last row of each key matters
 * @param numFields of the right side
 */
case class RightTerms(
    keys: Seq[Expression],
    order: Seq[SortOrder],
    asOfTerm: Option[Expression],
    lastOfKey: Boolean,
    numFields: Int) {

  def longKey: Option[Expression] = RightTerms.longKey(keys)
  def longTime: Option[Expression] = RightTerms.longTime(asOfTerm, order)

  /** A long that rises with the order, if not strictly. */
  def sortKey: Expression = longTime.orElse(
    if (asOfTerm.isDefined) None else RightTerms.longTime(order.headOption.map(_.child), order)).getOrElse(Literal(0L))

  def canonicalized: RightTerms = copy(
    keys = keys.map(_.canonicalized),
    order = order.map(_.canonicalized.asInstanceOf[SortOrder]),
    asOfTerm = asOfTerm.map(_.canonicalized))
}

object RightTerms {
  /** Keys as one long, where that is possible: the same for both sides, as pairs of keys have one type. */
  def longKey(keys: Seq[Expression]): Option[Expression] = keys match {
    case Seq() => Some(Literal(0L))
    case Seq(key) if OrderedLong.supports(key.dataType) => Some(OrderedLong(key))
    case several => Some(HashJoin.rewriteKeyExpr(several)).collect { case Seq(packed) if packed.dataType == LongType => packed }
  }

  /** A time as a long that rises in the direction of the first ORDER BY term, where that is possible. */
  def longTime(time: Option[Expression], order: Seq[SortOrder]): Option[Expression] =
    time.filter(e => OrderedLong.supports(e.dataType)).map(OrderedLong(_, order.head.direction == Descending))
}
