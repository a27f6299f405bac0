package io.github.sparkjoinery.window.kernels

import io.github.sparkjoinery.window.frames.{Columns, ForwardColumns}

/**
 * Whether a part of a sum might overflow. If not, it does not matter in which order it is added up.
 *
 * @param limit
 *   of the sum
 */
private[window] abstract class OverflowGuard(limit: Double) {
  private val largest = new LargestInFrame

  def clear(): Unit = largest.clear()

  /** Rows before this one are in no frame. */
  def skipTo(row: Int): Unit

  /** At rows that are new, until this one. */
  protected def look(until: Int): Unit

  protected final def see(value: Double): Unit = largest.see(math.abs(value)) // NaN makes all NaN, in any order

  /** Of the rows of [lo, hi), both of which only grow. */
  final def mayOverflow(lo: Int, hi: Int): Boolean = {
    look(hi)
    largest.of(lo, hi) * (hi - lo) >= limit * OverflowGuard.Margin
  }
}

private[kernels] object OverflowGuard {
  private val Margin = 0.999999 // for the doubles here
}

/** @param input column of what is summed, as a double */
private[window] final class ColumnGuard(columns: Columns, input: Int, limit: Double) extends OverflowGuard(limit) {
  private var looked = 0

  override def clear(): Unit = { super.clear(); looked = 0 }

  override def skipTo(row: Int): Unit = looked = row

  override protected def look(until: Int): Unit = {
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

  override protected def look(until: Int): Unit = while (looked < until) {
    columns.moveTo(looked)
    if (!columns.isNullAt(input)) see(java.lang.Double.longBitsToDouble(columns.value(input)))
    looked += 1
  }
}
