package io.github.sparkjoinery.window.runtime.frames

import io.github.sparkjoinery.window.logical.program.Bound

/**
 * Bounds by columns in memory.
 *
 * @param raise
 *   throws the error of a row whose bound cannot be computed
 */
private[window] final class ColumnBounds(
    lower: Bound,
    upper: Bound,
    columns: FrameColumns,
    batch: Int,
    raise: Int => Unit)
  extends FrameBounds(lower, upper, batch) {

  override protected def loaded: Int = columns.loaded

  override protected def compare(range: Bound.Range, row: Int, of: Int, atEnd: Boolean): Int = {
    val (at, ofAt) = (row - columns.base, of - columns.base)
    val boundIsNull = columns.nulls(range.bound)(ofAt)
    if (boundIsNull && !columns.nulls(range.order)(ofAt)) raise(of) // as late as Spark
    compare(
      range,
      columns.nulls(range.order)(at),
      columns.values(range.order)(at),
      boundIsNull,
      columns.values(range.bound)(ofAt))
  }

  override protected def comparePeers(peer: Int, row: Int, of: Int, atEnd: Boolean): Int =
    java.lang.Long.compare(columns.values(peer)(row - columns.base), columns.values(peer)(of - columns.base))
}
