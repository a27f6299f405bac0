package io.github.sparkjoinery.window.runtime.kernels

import org.apache.spark.sql.catalyst.expressions._

import io.github.sparkjoinery.window.runtime.rows.RowCursor

/** A cursor that only moves forwards. It is opened on first use, and again to skip many rows. */
private[kernels] final class ForwardRows(cursor: Int => RowCursor) {
  private var rows: RowCursor = _
  private var position = 0

  def moveTo(row: Int): Unit = {
    if (rows == null || row - position > ForwardRows.Skip) { rows = cursor(row); position = row }
    while (position < row) { rows.next(); position += 1 }
  }

  def next(): UnsafeRow = { position += 1; rows.next() }
}

private[kernels] object ForwardRows {
  private val Skip = 1024
}
