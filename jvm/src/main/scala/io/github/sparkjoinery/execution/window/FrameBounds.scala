package io.github.sparkjoinery.execution.window

/** Where a frame begins or ends. */
private[window] sealed trait Bound extends Serializable

private[window] object Bound {
  case object Unbounded extends Bound

  /** @param offset in rows from the current one */
  case class Rows(offset: Int) extends Bound

  /**
   * At a value of the order column.
   *
   * @param order      column of the rows' values, as longs in the order of the sort
   * @param bound      column of the value that the frame of a row begins or ends at
   * @param nullsFirst of the order column
   */
  case class Range(order: Int, bound: Int, nullsFirst: Boolean) extends Bound

  /**
   * At the first or last of the rows with the same order values.
   *
   * @param peer column with a number for these rows, ascending
   */
  case class Peers(peer: Int) extends Bound
}

/**
 * The frame of one row after the other, of a partition's rows in their order: [lo, hi). Both only grow, as in Spark's operator.
 *
 * @param batch most rows that bounds are recorded for at a time
 * @param raise raises the error because of which a row has no bound
 */
private[window] final class FrameBounds(lower: Bound, upper: Bound, columns: Columns, batch: Int, raise: Int => Unit) {
  val los = new Array[Int](batch)
  val his = new Array[Int](batch)
  private var lo = 0
  private var hi = 0
  private var recordedHi = 0

  def clear(): Unit = { lo = 0; hi = 0; recordedHi = 0 }

  /** The first row that matters to frames after those recorded: a growing frame is only added to. */
  def firstNeeded: Int = if (lower == Bound.Unbounded) recordedHi else lo

  /**
   * Finds the end of a row's frame.
   *
   * @param complete whether the partition has no more rows than those loaded
   * @return false if more rows must be loaded to find it
   */
  def reach(row: Int, complete: Boolean): Boolean = upper match {
    case Bound.Rows(offset) =>
      val end = row.toLong + offset + 1
      if (end > columns.loaded && !complete) false
      else { hi = math.max(math.min(end, columns.loaded.toLong), 0L).toInt; true }
    case Bound.Unbounded => hi = columns.loaded; complete
    case range: Bound.Range =>
      while (hi < columns.loaded && compare(range, hi, row) <= 0) hi += 1
      hi < columns.loaded || complete
    case Bound.Peers(peer) =>
      val (peers, own) = (columns.values(peer), columns.values(peer)(row - columns.base))
      while (hi < columns.loaded && peers(hi - columns.base) <= own) hi += 1
      hi < columns.loaded || complete
  }

  /** Records the frame of a row whose end has been found. */
  def record(row: Int, at: Int): Unit = {
    lower match {
      case Bound.Rows(offset) => lo = math.max(math.min(row.toLong + offset, hi.toLong), 0L).toInt
      case Bound.Unbounded => lo = 0
      case range: Bound.Range => while (lo < hi && compare(range, lo, row) < 0) lo += 1
      case Bound.Peers(peer) =>
        val (peers, own) = (columns.values(peer), columns.values(peer)(row - columns.base))
        while (lo < hi && peers(lo - columns.base) < own) lo += 1
    }
    recordedHi = hi
    los(at) = lo
    his(at) = hi
  }

  /** The order value of a row against the bound of another's frame, in the order of the sort. */
  private def compare(range: Bound.Range, row: Int, of: Int): Int = {
    val (at, ofAt) = (row - columns.base, of - columns.base)
    val (isNull, boundIsNull) = (columns.nulls(range.order)(at), columns.nulls(range.bound)(ofAt))
    if (boundIsNull && !columns.nulls(range.order)(ofAt)) raise(of) // only now: Spark asks no earlier
    if (!isNull && !boundIsNull) java.lang.Long.compare(columns.values(range.order)(at), columns.values(range.bound)(ofAt))
    else if (isNull && boundIsNull) 0
    else if (isNull == range.nullsFirst) -1
    else 1
  }
}
