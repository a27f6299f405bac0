package io.github.sparkjoinery.window.kernels

import io.github.sparkjoinery.window.frames.{Columns, ForwardColumns}

/**
 * Whether a part of a sum might overflow. If not, it does not matter in which order it is added up.
 *
 * @param limit
 *   of the sum
 */
private[window] abstract class OverflowGuard(limit: Double) {
  private var largest = 0.0

  def clear(): Unit = largest = 0

  /** Rows before this one are in no frame. */
  def skipTo(row: Int): Unit

  /** At rows that are new, until this one. */
  def look(until: Int): Unit

  protected final def see(value: Double): Unit = {
    val size = math.abs(value)
    if (size > largest) largest = size // not so NaN, after which all is NaN in any order
  }

  final def mayOverflow(rows: Int): Boolean = largest * rows >= limit * OverflowGuard.Margin
}

private[kernels] object OverflowGuard {
  private val Margin = 0.999999 // for the doubles here
}

/** @param input column of what is summed, as a double */
private[window] final class ColumnGuard(columns: Columns, input: Int, limit: Double) extends OverflowGuard(limit) {
  private var looked = 0

  override def clear(): Unit = { super.clear(); looked = 0 }

  override def skipTo(row: Int): Unit = looked = row

  override def look(until: Int): Unit = {
    looked = math.max(looked, columns.base)
    val (values, nulls, base) = (columns.values(input), columns.nulls(input), columns.base)
    while (looked < until) {
      if (!nulls(looked - base)) see(java.lang.Double.longBitsToDouble(values(looked - base)))
      looked += 1
    }
  }
}

/** The same where columns are not kept. */
private[window] final class ForwardGuard(columns: ForwardColumns, input: Int, limit: Double)
  extends OverflowGuard(limit) {
  private var looked = 0

  override def clear(): Unit = { super.clear(); columns.clear(); looked = 0 }

  override def skipTo(row: Int): Unit = looked = row

  override def look(until: Int): Unit = while (looked < until) {
    columns.moveTo(looked)
    if (!columns.isNullAt(input)) see(java.lang.Double.longBitsToDouble(columns.value(input)))
    looked += 1
  }
}
