package io.github.sparkjoinery.window.runtime.frames

import io.github.sparkjoinery.window.logical.program.Bound

/**
 * Finds the frame [lo, hi) of one row after the other, in the order of the partition. Both ends only grow, as in
 * Spark's operator.
 *
 * @param batch
 *   the largest number of rows in a batch
 */
private[window] abstract class FrameBounds(lower: Bound, upper: Bound, batch: Int) {
  val los = new Array[Int](batch)
  val his = new Array[Int](batch)
  private var lo = 0
  private var hi = 0
  private var recordedHi = 0

  /** Number of rows of the partition that are available. */
  protected def loaded: Int

  /**
   * Compares the order value of `row` with the upper (`atEnd`) or lower bound of the frame of row `of`, in sort order.
   */
  protected def compare(range: Bound.Range, row: Int, of: Int, atEnd: Boolean): Int

  /**
   * Compares the peers of `row` with those of row `of`: negative if `row` comes before them, 0 if it is one of them.
   */
  protected def comparePeers(peer: Int, row: Int, of: Int, atEnd: Boolean): Int

  def clear(): Unit = { lo = 0; hi = 0; recordedHi = 0 }

  /** The first row of the frame that was recorded last. */
  def recordedLo: Int = lo

  /** The first row that later frames need. A growing frame needs only the rows that will be added. */
  def firstNeeded: Int = if (lower == Bound.Unbounded) recordedHi else lo

  /**
   * Finds the end of a row's frame.
   *
   * @param complete
   *   true if all rows of the partition are loaded
   * @return
   *   false if more rows must be loaded to find it
   */
  def reach(row: Int, complete: Boolean): Boolean = upper match {
    case Bound.Rows(offset) =>
      val end = row.toLong + offset + 1
      if (end > loaded && !complete) false
      else { hi = math.max(math.min(end, loaded.toLong), 0L).toInt; true }
    case Bound.Unbounded => hi = loaded; complete
    case range: Bound.Range =>
      while (hi < loaded && compare(range, hi, row, atEnd = true) <= 0) hi += 1
      hi < loaded || complete
    case Bound.Peers(peer) =>
      while (hi < loaded && comparePeers(peer, hi, row, atEnd = true) <= 0) hi += 1
      hi < loaded || complete
  }

  /** Records the frame of a row whose end has been found. */
  def record(row: Int, at: Int): Unit = {
    lower match {
      case Bound.Rows(offset) => lo = math.max(math.min(row.toLong + offset, hi.toLong), 0L).toInt
      case Bound.Unbounded => lo = 0
      case range: Bound.Range => while (lo < hi && compare(range, lo, row, atEnd = false) < 0) lo += 1
      case Bound.Peers(peer) => while (lo < hi && comparePeers(peer, lo, row, atEnd = false) < 0) lo += 1
    }
    recordedHi = hi
    los(at) = lo
    his(at) = hi
  }

  /** True if frames depend on row numbers alone, so that many are found at a time. */
  val areByNumber: Boolean = Seq(lower, upper).forall {
    case Bound.Unbounded | Bound.Rows(_) => true
    case Bound.Range(_, _, _) | Bound.Peers(_) => false
  }

  /** Returns how many rows from `row` on have an end that [[reach]] would find. Only for frames by row number. */
  def reachable(row: Int, complete: Boolean): Int = upper match {
    case _ if complete => loaded - row
    case Bound.Rows(offset) => math.max(math.min(loaded.toLong - offset - row, loaded.toLong - row), 0L).toInt
    case _ => 0
  }

  /**
   * Does the work of [[reach]] and [[record]] for rows from `row` on with reachable ends. Only for frames by row
   * number.
   */
  def recordAll(row: Int, at: Int, count: Int): Unit = if (count > 0) {
    val all = loaded.toLong
    val (first, last) = (FrameBounds.offset(lower, -FrameBounds.Far), FrameBounds.offset(upper, FrameBounds.Far))
    var k = 0
    while (k < count) {
      val end = math.max(math.min(row + k + last + 1, all), 0L)
      his(at + k) = end.toInt
      los(at + k) = math.max(math.min(row + k + first, end), 0L).toInt
      k += 1
    }
    lo = los(at + count - 1)
    hi = his(at + count - 1)
    recordedHi = hi
  }

  protected final def compare(
      range: Bound.Range,
      isNull: Boolean,
      value: Long,
      boundIsNull: Boolean,
      bound: Long): Int =
    if (!isNull && !boundIsNull) java.lang.Long.compare(value, bound)
    else if (isNull && boundIsNull) 0
    else if (isNull == range.nullsFirst) -1
    else 1
}

private object FrameBounds {
  private val Far = 1L << 32 // more rows than a partition has

  private def offset(bound: Bound, unbounded: Long): Long = bound match {
    case Bound.Rows(offset) => offset
    case _ => unbounded
  }
}
