package io.github.sparkjoinery.window.logical.program

/** The beginning or the end of a frame. */
private[window] sealed trait Bound extends Serializable

private[window] object Bound {
  case object Unbounded extends Bound

  /** @param offset number of rows after the current row; negative for rows before it */
  case class Rows(offset: Int) extends Bound

  /**
   * A bound at a value of the order column.
   *
   * @param order
   *   number of the column with the order values, as longs that sort in the same order
   * @param bound
   *   number of the column with the value at which the frame of a row begins or ends
   * @param nullsFirst
   *   true if NULLs of the order column come first
   */
  case class Range(order: Int, bound: Int, nullsFirst: Boolean) extends Bound

  /**
   * A bound at the first or last row with the same order values.
   *
   * @param peer
   *   number of the column that numbers the groups of such rows in ascending order
   */
  case class Peers(peer: Int) extends Bound
}
