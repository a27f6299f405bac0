package io.github.sparkjoinery.window.kernels

/**
 * The largest of some sizes among the rows of a moving frame, or of a few rows before it: a row counts until the frame
 * has left it, and for at most a frame's length more. So one that is out of the ordinary, such as the greatest number
 * in place of an unknown one, says nothing of the frames far behind it.
 * {{{
 *             lo     boundary       hi
 *   ----------[---------|-----------)----
 *   ------ older -------)-- newer --)
 * }}}
 */
private[kernels] final class LargestInFrame {
  private var older, newer = 0.0
  private var boundary = 0
  private var isAny = false

  def clear(): Unit = { older = 0; newer = 0; boundary = 0; isAny = false }

  /** Of a row that is new. NaN is no size. */
  def see(size: Double): Unit = if (size > newer) { newer = size; isAny = true }

  /** The same once the frame is [lo, hi), and all rows before `hi` have been seen; 0: there was none. */
  def of(lo: Int, hi: Int): Double = if (isAny) ofSome(lo, hi) else 0

  private def ofSome(lo: Int, hi: Int): Double = {
    if (lo >= boundary) {
      older = newer
      newer = 0
      boundary = hi
      isAny = older > 0
    }
    if (older > newer) older else newer
  }
}
