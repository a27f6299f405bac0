package io.github.sparkjoinery.execution.rows

/** Search in ascending longs. */
private[rows] object LastUpTo {
  private val LeastToGuess = 512
  private val FirstStep = 32

  /**
   * Many longs are searched around the place where `bound` would be if they were spread evenly, in steps that double: times
   * of one key mostly are, and then a search touches a few neighbouring cache lines where bisection would touch ten far apart. Where they are
   * not, it takes twice as many looks as bisection.
   *
   * @param from,until the stretch to search
   * @return the place of the last value up to `bound`; `from - 1` if there is none
   */
  def search(values: Array[Long], from: Int, until: Int, bound: Long): Int = {
    var low = from // the place looked for is in [low - 1, high)
    var high = until
    if (until - from > LeastToGuess) {
      val (smallest, largest) = (values(from), values(until - 1))
      if (bound < smallest) return from - 1
      if (bound >= largest) return until - 1
      val share = math.min(1.0, (bound.toDouble - smallest) / (largest.toDouble - smallest)) // NaN if longs this large are one double
      val guess = from + (share * (until - 1 - from)).toInt
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
