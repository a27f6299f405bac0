package io.github.sparkjoinery.execution.rows

import java.util

import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, SortOrder, UnsafeRow}
import org.apache.spark.unsafe.Platform

/** An order of rows in which only rows of the same bytes are equal: a sort order, then bytes. */
object TotalOrder {
  def apply(order: Seq[SortOrder], output: Seq[Attribute]): util.Comparator[UnsafeRow] = {
    val ordering = RowOrdering.create(order, output)
    (a, b) => {
      val compared = ordering.compare(a, b)
      if (compared != 0) compared else byBytes(a, b)
    }
  }

  private def byBytes(a: UnsafeRow, b: UnsafeRow): Int = {
    val size = a.getSizeInBytes // a multiple of 8
    var compared = Integer.compare(size, b.getSizeInBytes)
    var i = 0
    while (compared == 0 && i < size) {
      compared = java.lang.Long.compare(
        Platform.getLong(a.getBaseObject, a.getBaseOffset + i),
        Platform.getLong(b.getBaseObject, b.getBaseOffset + i))
      i += 8
    }
    compared
  }
}
