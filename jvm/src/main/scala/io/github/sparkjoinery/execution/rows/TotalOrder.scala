package io.github.sparkjoinery.execution.rows

import java.util

import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, SortOrder, UnsafeRow}

/** An order of rows in which only rows of the same bytes are equal: a sort order, then bytes. */
object TotalOrder {
  def apply(order: Seq[SortOrder], output: Seq[Attribute]): util.Comparator[UnsafeRow] = {
    val ordering = RowOrdering.create(order, output)
    (a, b) => {
      val compared = ordering.compare(a, b)
      if (compared != 0) compared else util.Arrays.compare(a.getBytes, b.getBytes)
    }
  }
}
