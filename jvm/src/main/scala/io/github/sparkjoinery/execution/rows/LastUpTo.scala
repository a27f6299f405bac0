package io.github.sparkjoinery.execution.rows

/**
 * Search in stretches of ascending longs. A long stretch is searched around a guess, where the bound would be if the
 * values were spread evenly: times of one key mostly are, and then the search touches a few cache lines where bisection
 * would touch ten far apart. Where they are not, it takes twice as many looks as bisection.
 */
private[sparkjoinery] object LastUpTo {
  private val LeastToGuess = 512
  private val FirstStep = 8

  /**
   * @param from,until
   *   the stretch to search
   * @return
   *   the place of the last value up to `bound`; `from - 1` if there is none
   */
  def search(values: Array[Long], from: Int, until: Int, bound: Long): Int =
    around(values, from, until, bound, improve(values, from, until, bound, guess(values, from, until, bound)))

  /** A place in the stretch, if that is not empty. */
  def guess(values: Array[Long], from: Int, until: Int, bound: Long): Int =
    if (until - from <= LeastToGuess) (from + until) >>> 1
    else clamp(from + (bound.toDouble - values(from)) * density(values, from, until), from, until)

  /** A better guess, from the value at a guess. */
  def improve(values: Array[Long], from: Int, until: Int, bound: Long, guess: Int): Int =
    if (until - from <= LeastToGuess) guess
    else clamp(guess + (bound.toDouble - values(guess)) * density(values, from, until), from, until)

  /** Values per unit; infinite or NaN where all of them are one, or one double, which `clamp` puts up with. */
  private def density(values: Array[Long], from: Int, until: Int): Double =
    (until - 1 - from) / (values(until - 1).toDouble - values(from))

  private def clamp(place: Double, from: Int, until: Int): Int =
    if (place < until - 1) math.max(place, from.toDouble).toInt else until - 1 // NaN: there

  /** What `search` returns, given a guess. */
  def around(values: Array[Long], from: Int, until: Int, bound: Long, guess: Int): Int = {
    var low = from // the place looked for is in [low - 1, high)
    var high = until
    if (until - from > LeastToGuess) {
      var step = FirstStep
      if (values(guess) <= bound) {
        low = guess + 1
        while (low + step < high && values(low + step) <= bound) { low += step + 1; step *= 2 }
        high = math.min(high, low + step)
      } else {
        high = guess
        while (high - step > low && values(high - step) > bound) { high -= step; step *= 2 }
        low = math.max(low, high - step)
      }
    }
    while (low < high) {
      val middle = (low + high) >>> 1
      if (values(middle) <= bound) low = middle + 1 else high = middle
    }
    low - 1
  }
}
