package io.github.sparkjoinery.window.kernels

import io.github.sparkjoinery.window.frames.NumberColumn

/**
 * Rows that tie have one RANGE frame: where each frame is added up by itself, it has to be done once for all of them,
 * or it takes time in the square of their number. Only such frames are asked about here.
 *
 * @param columns
 *   of the results; null: none
 */
private[kernels] final class SharedFrame(columns: NumberColumn*) {
  private val results = columns.filter(_ != null).toArray
  private var lo, hi = -1 // of the row that was asked about last
  private var place = 0 // of its results, in this batch or the one before

  def clear(): Unit = { lo = -1; hi = -1 }

  /**
   * Whether the results at a place are there, because the frame is the one asked about last, which was the row's
   * before: frames only move on. Else they are to be made.
   */
  def fills(at: Int, lo: Int, hi: Int): Boolean = {
    val isSame = lo == this.lo && hi == this.hi
    if (isSame) {
      var i = 0
      while (i < results.length) { results(i).copy(place, at); i += 1 }
    }
    this.lo = lo
    this.hi = hi
    place = at
    isSame
  }
}
