package io.github.sparkjoinery.window.program

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types.{BinaryType, LongType, StringType}

import io.github.sparkjoinery.expressions.OrderedLong

/**
 * The first term of a sort order, as a long for each row.
 *
 * @param word
 *   a long; NULL where the term is
 * @param isUnsigned
 *   whether Spark orders these longs as unsigned ones
 * @param isExact
 *   whether equal longs mean equal values; else rows have to be compared
 */
private[window] case class SortKey(word: Expression, isUnsigned: Boolean, isExact: Boolean, order: SortOrder) {

  /** The long of a row, by its projected word; longs sort as the values do. */
  def of(projected: UnsafeRow): Long =
    if (projected.isNullAt(0)) nullWord
    else if (isUnsigned) { val word = projected.getLong(0) ^ Long.MinValue; if (isDescending) ~word else word }
    else projected.getLong(0)

  /** What stands for NULL; a value's long may be the same. */
  val nullWord: Long = if (order.nullOrdering == NullsFirst) Long.MinValue else Long.MaxValue

  private def isDescending: Boolean = order.direction == Descending
}

private[window] object SortKey {
  def apply(order: SortOrder): SortKey = order.dataType match {
    case dataType if OrderedLong.supports(dataType) =>
      SortKey(OrderedLong(order.child, order.direction == Descending), isUnsigned = false, isExact = true, order)
    case dataType @ (_: StringType | BinaryType) if UnsafeRowUtils.isBinaryStable(dataType) =>
      SortKey(SortPrefix(SortOrder(order.child, Ascending)), isUnsigned = true, isExact = false, order)
    case _ => SortKey(Literal(0L, LongType), isUnsigned = false, isExact = false, order)
  }
}
