package io.github.sparkjoinery.window.runtime.frames

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.BuildMemory
import org.apache.spark.unsafe.Platform

/**
 * The columns that frames and kernels need, from the first row that a frame still holds. Values are raw 8-byte words,
 * as in an `UnsafeRow`. Row numbers count from the beginning of the partition.
 *
 * @param width
 *   number of columns
 * @param limit
 *   largest number of bytes
 */
final class FrameColumns(width: Int, memory: BuildMemory, limit: Long) {
  val values: Array[Array[Long]] = Array.fill(width)(Array.emptyLongArray)
  val nulls: Array[Array[Boolean]] = Array.fill(width)(Array.emptyBooleanArray)
  private var capacity = 0

  /** The row number of the arrays' first element. */
  var base = 0

  /** Number of rows of the partition that have been added. */
  var loaded = 0

  def clear(): Unit = { base = 0; loaded = 0 }

  /** Releases all memory. */
  def free(): Unit = {
    clear()
    capacity = 0
    var column = 0
    while (column < width) {
      values(column) = Array.emptyLongArray
      nulls(column) = Array.emptyBooleanArray
      column += 1
    }
    memory.release(memory.acquired)
  }

  /** Makes room for one more row. Returns false if there is no memory for it. */
  def hasRoom: Boolean = loaded - base < capacity || grow()

  /**
   * Adds a row, after `hasRoom`.
   *
   * @param row
   *   the row's columns, 8 bytes each; null if there are none
   * @param last
   *   the value of the extra column, if there is one
   */
  def add(row: UnsafeRow, last: Long): Unit = {
    val at = loaded - base
    val projected = if (row == null) 0 else row.numFields
    if (row != null) {
      val (holder, offset) = (row.getBaseObject, row.getBaseOffset + UnsafeRow.calculateBitSetWidthInBytes(projected))
      var column = 0
      while (column < projected) {
        values(column)(at) = Platform.getLong(holder, offset + column * 8L)
        nulls(column)(at) = row.isNullAt(column)
        column += 1
      }
    }
    if (projected < width) values(projected)(at) = last
    loaded += 1
  }

  /** Drops the rows before `row`, if they are enough to be worth moving the others. */
  def forgetBefore(row: Int): Unit = {
    val forgotten = row - base
    if (forgotten >= FrameColumns.Smallest && forgotten * 2 >= loaded - base) {
      var column = 0
      while (column < width) {
        System.arraycopy(values(column), forgotten, values(column), 0, loaded - row)
        System.arraycopy(nulls(column), forgotten, nulls(column), 0, loaded - row)
        column += 1
      }
      base = row
    }
  }

  private def grow(): Boolean = {
    val larger = math.max(capacity * 2L, FrameColumns.Smallest)
    val more = (larger - capacity) * width * FrameColumns.BytesPerValue
    larger <= (1 << 30) && (width == 0 || memory.acquired + more <= limit && memory.acquire(more)) && {
      capacity = larger.toInt
      var column = 0
      while (column < width) {
        values(column) = java.util.Arrays.copyOf(values(column), capacity)
        nulls(column) = java.util.Arrays.copyOf(nulls(column), capacity)
        column += 1
      }
      true
    }
  }
}

object FrameColumns {
  private val Smallest = 4096
  private val BytesPerValue = 9
}
