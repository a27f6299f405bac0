package io.github.sparkjoinery.rangejoin.index

/**
 * Where to look for a value among ascending longs: for each of as many even steps from the least to the greatest as
 * there are values, or half as many, the place of its first value. A search takes one look here and one or two at the
 * values beside each other, where bisection would take twenty far apart; where most values are in few steps, it bisects
 * those.
 *
 * Source: the idea of a radix table over sorted keys (A. Kipf et al., "RadixSpline: a single-pass learned index",
 * 2020), without the spline.
 *
 * @param until
 *   the place after the last value
 * @param least
 *   the first value
 * @param shift
 *   binary digits within a step
 * @param firsts
 *   step -> place; one more at the end
 */
private[index] final class Directory private (until: Int, least: Long, shift: Int, firsts: Array[Int])
  extends Serializable {

  def bytes: Long = firsts.length * 4L

  /** The place of the last value up to `bound`; one before the first if there is none. */
  def lastUpTo(values: Array[Long], bound: Long): Int =
    if (bound < least) firsts(0) - 1
    else {
      val step = (bound - least) >>> shift // without a sign, unless nothing is shifted out
      if (step < 0 || step >= firsts.length - 1) until - 1
      else {
        var low = firsts(step.toInt)
        var high = firsts(step.toInt + 1)
        while (low < high) {
          val middle = (low + high) >>> 1
          if (values(middle) <= bound) low = middle + 1 else high = middle
        }
        low - 1
      }
    }
}

private[index] object Directory {
  private val LeastValues = 256 // fewer are near to each other anyway

  /** Bytes that directories take for each value, at most. */
  val BytesPerValue = 4L

  /** One of [from, until), or null if there are too few values to need one. */
  def of(values: Array[Long], from: Int, until: Int): Directory =
    if (until - from < LeastValues) null
    else {
      val steps = Integer.highestOneBit(until - from - 1)
      val digits = 64 - java.lang.Long.numberOfLeadingZeros(values(until - 1) - values(from))
      val shift = math.max(0, digits - Integer.numberOfTrailingZeros(steps))
      val firsts = new Array[Int](steps + 1)
      var step = 0
      var place = from
      while (place < until) {
        val of = ((values(place) - values(from)) >>> shift).toInt
        while (step <= of) {
          firsts(step) = place
          step += 1
        }
        place += 1
      }
      while (step <= steps) {
        firsts(step) = until
        step += 1
      }
      new Directory(until, values(from), shift, firsts)
    }
}
