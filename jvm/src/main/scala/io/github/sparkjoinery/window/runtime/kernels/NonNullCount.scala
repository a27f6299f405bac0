package io.github.sparkjoinery.window.runtime.kernels

import io.github.sparkjoinery.window.runtime.frames.FrameColumns

/** Counts the non-NULL values of a column in a moving frame. */
private[kernels] final class NonNullCount(columns: FrameColumns, input: Int) {
  private var added = 0
  private var removed = 0
  var count = 0

  def clear(): Unit = { added = 0; removed = 0; count = 0 }

  def skipTo(lo: Int): Unit = { added = lo; removed = lo }

  def move(lo: Int, hi: Int): Int = {
    val (nulls, base) = (columns.nulls(input), columns.base)
    while (added < hi) { if (!nulls(added - base)) count += 1; added += 1 }
    while (removed < lo) { if (!nulls(removed - base)) count -= 1; removed += 1 }
    count
  }
}
