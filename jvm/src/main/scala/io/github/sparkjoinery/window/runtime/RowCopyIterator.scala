package io.github.sparkjoinery.window.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric

import io.github.sparkjoinery.window.logical.HotKey

/**
 * The rows of one task with their copies. A row and its copies are the same object, one after the other.
 *
 * @param terms
 *   the id and the time of a row
 * @param hotKeys
 *   the hot keys by ascending id
 */
private[window] final class RowCopyIterator(
    rows: Iterator[InternalRow],
    terms: Seq[Expression],
    columns: Seq[Attribute],
    nullTime: Long,
    hotKeys: Array[HotKey],
    numCopies: SQLMetric)
  extends Iterator[InternalRow] {
  private val ids = hotKeys.map(_.id)
  private val termsOf = UnsafeProjection.create(terms, columns)
  private val ordinal = columns.length - 1
  private var row: UnsafeRow = _
  private var key: HotKey = _ // the key of the row; null if it is not cut
  private var lastId = 0L // the id of the last row, if there was one
  private var isFirst = true
  private var own, part, last = 0 // `part` is the next to get a copy, up to `last`

  override def hasNext: Boolean = isCopyLeft || rows.hasNext

  override def next(): InternalRow = {
    if (isCopyLeft) {
      row.setInt(ordinal, -key.labels(part))
      numCopies += 1
      skipOwn(part + 1)
    } else {
      row = rows.next().asInstanceOf[UnsafeRow]
      row.setInt(ordinal, ownLabel(termsOf(row)))
    }
    row
  }

  private def isCopyLeft: Boolean = key != null && part <= last

  private def ownLabel(found: UnsafeRow): Int = {
    val id = found.getLong(0)
    if (isFirst || id != lastId) {
      val i = java.util.Arrays.binarySearch(ids, id)
      key = if (i < 0) null else hotKeys(i)
      lastId = id
      isFirst = false
    }
    if (key == null) 0
    else {
      val at = if (found.isNullAt(1)) nullTime else found.getLong(1)
      own = key.partOf(at)
      last = key.lastPart(own, at)
      skipOwn(key.firstPart(own, at))
      key.labels(own)
    }
  }

  private def skipOwn(next: Int): Unit = part = if (next == own) next + 1 else next
}
