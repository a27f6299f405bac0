package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

/** Walks over the sorted right side, key by key. */
private[lastjoin] class RightCursor(rows: Iterator[InternalRow], keys: Seq[Expression], output: Seq[Attribute]) {
  private val keyOf = UnsafeProjection.create(keys, output)
  private val ordering = RowOrdering.create(
    keys.zipWithIndex.map { case (key, i) => SortOrder(BoundReference(i, key.dataType, nullable = true), Ascending) },
    Nil)
  private var key: UnsafeRow = _

  /** The current row, valid until the next `advance`; null at the end. */
  var row: UnsafeRow = _
  advance()

  def advance(): Unit = {
    row = if (rows.hasNext) rows.next().asInstanceOf[UnsafeRow] else null
    key = if (row == null) null else keyOf(row)
  }

  def isAt(wanted: UnsafeRow): Boolean = row != null && ordering.compare(key, wanted) == 0

  /** Moves to the first row whose key is not before the wanted key. */
  def skipTo(wanted: UnsafeRow): Unit = while (row != null && ordering.compare(key, wanted) < 0) advance()
}
