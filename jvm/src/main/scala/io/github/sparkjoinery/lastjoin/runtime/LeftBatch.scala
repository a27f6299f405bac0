package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.unsafe.Platform

import io.github.sparkjoinery.execution.rows.{BatchedLookup, GroupedRows, KeyIndex}
import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

/**
 * Reads the left rows of a task ahead in batches, and finds the positions of each row's candidates in [[GroupedRows]].
 *
 * @param relation
 *   the right rows
 */
private[lastjoin] class LeftBatch(
    leftRows: Iterator[InternalRow],
    relation: GroupedRows,
    terms: LastJoinTerms,
    left: Seq[Attribute],
    right: Seq[Attribute])
  extends Iterator[UnsafeRow] {

  private val rows = Array.fill(LeftBatch.Rows)(new UnsafeRow(left.length))
  private val ends = new Array[Int](LeftBatch.Rows) // where each row ends in the buffer
  private var buffer = new Array[Byte](LeftBatch.Bytes)
  private var count = 0
  private var current = -1

  private val longs = UnsafeProjection.create(
    Seq(terms.leftLongKey.getOrElse(Literal(0L)), terms.leftLongTime.getOrElse(Literal(0L))),
    left)
  private val rowKey =
    if (terms.leftLongKey.isEmpty) Some(UnsafeProjection.create(terms.leftKeys, left)) else None
  private val rowTime =
    terms.asOf.filter(_ => terms.leftLongTime.isEmpty).map(time => UnsafeProjection.create(Seq(time), left))
  private val reader = relation.reader(terms.timeOrder(right).orNull)
  private val lookup =
    new BatchedLookup(relation, hasTimes = terms.leftLongTime.isDefined, terms.strict, LeftBatch.Rows)
  private val matchedRow = new UnsafeRow(right.length)

  override def hasNext: Boolean = current + 1 < count || readAhead()

  override def next(): UnsafeRow = {
    if (!hasNext) Iterator.empty.next()
    current += 1
    rows(current)
  }

  // The following methods are about the row that `next` returned last.

  /** Positions of the first and the last candidate. The last is before the first if there is none. */
  def first: Int = lookup.firsts(current)
  def last: Int = lookup.lasts(current)

  /** The last candidate, or null. */
  def lastRow: UnsafeRow = lookup.row(current, matchedRow)

  private def readAhead(): Boolean = {
    current = -1
    copyRows()
    var i = 0
    while (i < count) { look(i); i += 1 }
    lookup.find(count)
    if (rowTime.isDefined) {
      i = 0
      while (i < count) {
        if (lookup.groups(i) >= 0) lookup.lasts(i) = lastUpTo(i, lookup.groups(i))
        i += 1
      }
    }
    lookup.fetch(count)
    count > 0
  }

  private def look(i: Int): Unit = {
    val values = longs(rows(i))
    lookup.keys(i) = values.getLong(0)
    lookup.times(i) = values.getLong(1)
    lookup.groups(i) =
      if (values.anyNull) KeyIndex.Absent
      else if (rowKey.isEmpty) BatchedLookup.ToBeFound
      else { val key = rowKey.get(rows(i)); if (key.anyNull) KeyIndex.Absent else reader.group(key) }
  }

  private def lastUpTo(i: Int, group: Int): Int = {
    try {
      val time = rowTime.get(rows(i))
      if (time.anyNull) reader.first(group) - 1 else reader.lastUpTo(group, time)
    } catch { case _: Exception => reader.last(group) }
  }

  /** Copies the next rows, because the input reuses one row. */
  private def copyRows(): Unit = {
    count = 0
    var end = 0
    while (count < LeftBatch.Rows && end < LeftBatch.Bytes && leftRows.hasNext) {
      val row = leftRows.next().asInstanceOf[UnsafeRow]
      val start = end
      end += row.getSizeInBytes
      if (end > buffer.length) buffer = java.util.Arrays.copyOf(buffer, math.max(end, buffer.length * 2))
      row.writeToMemory(buffer, Platform.BYTE_ARRAY_OFFSET + start)
      ends(count) = end
      count += 1
    }
    var start = 0
    var i = 0
    while (i < count) {
      rows(i).pointTo(buffer, Platform.BYTE_ARRAY_OFFSET + start, ends(i) - start)
      start = ends(i)
      i += 1
    }
  }
}

private object LeftBatch {
  private val Rows = 64
  private val Bytes = 16 << 10
}
