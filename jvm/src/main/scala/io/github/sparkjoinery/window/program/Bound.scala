package io.github.sparkjoinery.window.program

/** Where a frame begins or ends. */
private[window] sealed trait Bound extends Serializable

private[window] object Bound {
  case object Unbounded extends Bound

  /** @param offset in rows from the current one */
  case class Rows(offset: Int) extends Bound

  /**
   * At a value of the order column.
   *
   * @param order
   *   column of the rows' values, as longs in the order of the sort
   * @param bound
   *   column of the value that the frame of a row begins or ends at
   * @param nullsFirst
   *   of the order column
   */
  case class Range(order: Int, bound: Int, nullsFirst: Boolean) extends Bound

  /**
   * At the first or last of the rows with the same order values.
   *
   * @param peer
   *   column with a number for these rows, ascending
   */
  case class Peers(peer: Int) extends Bound
}
