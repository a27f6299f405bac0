package io.github.sparkjoinery.window.runtime.rows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.Collations
import org.apache.spark.sql.types.{BinaryType, LongType, StringType}

import io.github.sparkjoinery.expressions.OrderedLong

/**
 * The first term of a sort order, as a long for each row.
 *
 * @param word
 *   a long; NULL if the term is NULL
 * @param isUnsigned
 *   true if Spark compares these longs as unsigned numbers
 * @param isExact
 *   true if equal longs mean equal values; else equal longs need a comparison of the rows
 */
private[window] case class SortKey(word: Expression, isUnsigned: Boolean, isExact: Boolean, order: SortOrder) {

  /** Returns the long of a row from its projected word. The longs sort like the values. */
  def longOf(projected: UnsafeRow): Long =
    if (projected.isNullAt(0)) nullWord
    else if (isUnsigned) { val word = projected.getLong(0) ^ Long.MinValue; if (isDescending) ~word else word }
    else projected.getLong(0)

  /** The long of NULL. A value may have the same long. */
  val nullWord: Long = if (order.nullOrdering == NullsFirst) Long.MinValue else Long.MaxValue

  private def isDescending: Boolean = order.direction == Descending
}

private[window] object SortKey {
  def apply(order: SortOrder): SortKey = order.dataType match {
    case dataType if OrderedLong.supports(dataType) =>
      SortKey(OrderedLong(order.child, order.direction == Descending), isUnsigned = false, isExact = true, order)
    case dataType @ (_: StringType | BinaryType) if Collations.isBinaryStable(dataType) =>
      SortKey(SortPrefix(SortOrder(order.child, Ascending)), isUnsigned = true, isExact = false, order)
    case _ => SortKey(Literal(0L, LongType), isUnsigned = false, isExact = false, order)
  }
}
