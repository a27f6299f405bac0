package io.github.sparkjoinery.execution.window.kernels

import io.github.sparkjoinery.execution.window.Columns

/**
 * Whether a part of a sum might overflow. If not, it does not matter in which order it is added up.
 *
 * @param input    column of what is summed, as a double
 * @param limit    of the sum
 */
private[window] final class OverflowGuard(input: Int, limit: Double) {
  private var largest = 0.0
  private var looked = 0

  def clear(): Unit = { largest = 0; looked = 0 }

  /** At rows that are new. */
  def look(columns: Columns): Unit = {
    looked = math.max(looked, columns.base)
    while (looked < columns.loaded) {
      if (!columns.nulls(input)(looked - columns.base)) {
        val size = math.abs(java.lang.Double.longBitsToDouble(columns.values(input)(looked - columns.base)))
        if (size > largest) largest = size // not so NaN, after which all is NaN in any order
      }
      looked += 1
    }
  }

  def mayOverflow(rows: Int): Boolean = largest * rows >= limit * OverflowGuard.Margin
}

private[kernels] object OverflowGuard {
  private val Margin = 0.999999 // for the doubles here
}
