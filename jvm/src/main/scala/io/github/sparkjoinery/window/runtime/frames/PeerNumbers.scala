package io.github.sparkjoinery.window.runtime.frames

import org.apache.spark.sql.catalyst.expressions._

/** Numbers the groups of rows with equal order values. */
private[window] final class PeerNumbers(order: Seq[SortOrder], output: Seq[Attribute]) {
  private val valuesOf = UnsafeProjection.create(order.map(_.child), output)
  private val ordering = RowOrdering.create(
    order.zipWithIndex.map { case (term, i) =>
      term.copy(child = BoundReference(i, term.dataType, term.nullable), sameOrderExpressions = Nil)
    },
    Nil)
  private var last: UnsafeRow = _
  private var number = 0L

  def clear(): Unit = { last = null; number = 0 }

  def numberOf(row: UnsafeRow): Long = {
    val values = valuesOf(row)
    if (last == null) last = values.copy()
    else if (values != last) {
      if (ordering.compare(values, last) != 0) number += 1
      last = values.copy()
    }
    number
  }
}
