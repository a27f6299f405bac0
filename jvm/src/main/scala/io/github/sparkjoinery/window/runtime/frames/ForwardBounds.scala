package io.github.sparkjoinery.window.runtime.frames

import io.github.sparkjoinery.window.logical.program.Bound

/**
 * Bounds by the rows themselves, for partitions whose columns are not kept. Three cursors move forwards over the rows.
 *
 * @param size
 *   number of rows of the partition
 * @param columns
 *   opens a cursor that computes the given columns
 * @param raise
 *   throws the error of a row whose bound cannot be computed
 */
private[window] final class ForwardBounds(
    lower: Bound,
    upper: Bound,
    size: () => Int,
    columns: Set[Int] => StreamedFrameColumns,
    batch: Int,
    raise: Int => Unit)
  extends FrameBounds(lower, upper, batch) {
  private def needed(bound: Bound): Set[Int] = bound match {
    case Bound.Range(order, bound, _) => Set(order, bound)
    case _ => Set.empty
  }
  private val begin = columns(needed(lower))
  private val end = columns(needed(upper))
  private val own = columns(needed(lower) ++ needed(upper))

  override def clear(): Unit = {
    super.clear()
    Seq(begin, end, own).foreach(_.clear())
  }

  override protected def loaded: Int = size()

  override protected def compare(range: Bound.Range, row: Int, of: Int, atEnd: Boolean): Int = {
    val place = if (atEnd) end else begin
    place.moveTo(row)
    own.moveTo(of)
    val boundIsNull = own.isNullAt(range.bound)
    if (boundIsNull && !own.isNullAt(range.order)) raise(of)
    compare(range, place.isNullAt(range.order), place.value(range.order), boundIsNull, own.value(range.bound))
  }

  override protected def comparePeers(peer: Int, row: Int, of: Int, atEnd: Boolean): Int = {
    val place = if (atEnd) end else begin
    place.moveTo(row)
    own.moveTo(of)
    java.lang.Long.compare(place.peer, own.peer)
  }
}
