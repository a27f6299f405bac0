package io.github.sparkjoinery.window.runtime.frames

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.LongType

import io.github.sparkjoinery.window.logical.program.WindowProgram
import io.github.sparkjoinery.window.runtime.rows.RowCursor

/**
 * The columns of one row at a time, for partitions whose columns are not kept. It only moves forwards.
 *
 * @param program
 *   the program with the columns
 * @param needed
 *   numbers of the columns to compute; the others are NULL
 * @param order
 *   the order by which rows with equal order values are numbered; empty if no frame needs these numbers
 * @param cursor
 *   opens a cursor on the rows of the partition
 */
private[window] final class StreamedFrameColumns(
    program: WindowProgram,
    needed: Set[Int],
    order: Seq[SortOrder],
    output: Seq[Attribute],
    cursor: Int => RowCursor) {
  private val project = UnsafeProjection.create(
    program.columns.zipWithIndex.map { case (column, i) => if (needed(i)) column else Literal(null, LongType) },
    output)
  private val peers = if (order.isEmpty) null else new PeerNumbers(order, output)
  private var rows: RowCursor = _
  private var next = 0
  private var columns: UnsafeRow = _

  /** The number of the row's order values, as in [[PeerNumbers]]. */
  var peer = 0L

  def clear(): Unit = {
    rows = null
    next = 0
    if (peers != null) peers.clear()
  }

  /** Moves to a row, which must not be before the current one. */
  def moveTo(row: Int): Unit = {
    if (rows == null) rows = cursor(0)
    while (next <= row) {
      val here = rows.next()
      if (peers != null) peer = peers.numberOf(here)
      if (next == row) columns = project(here)
      next += 1
    }
  }

  def isNullAt(column: Int): Boolean = columns.isNullAt(column)
  def value(column: Int): Long = columns.getLong(column)
}
