package io.github.sparkjoinery.rangejoin.index

/**
 * Where to look for a value among ascending longs: for each of as many even steps from the least to the greatest as
 * there are values, or half as many, the place of its first value. A search takes one look here and one or two at the
 * values beside each other, where bisection would take twenty far apart; where most values are in few steps, it bisects
 * those.
 *
 * Of points it knows besides, by a bit for each sixteenth of a step, where there are none: that is a small fraction of
 * the values' own size, which the processor's cache holds, and most ranges that are narrow beside the points find
 * nothing.
 *
 * Source: the idea of a radix table over sorted keys (A. Kipf et al., "RadixSpline: a single-pass learned index",
 * 2020), without the spline.
 *
 * @param until
 *   the place after the last value
 * @param least
 *   the first value
 * @param greatest
 *   the last value
 * @param shift
 *   binary digits within a step
 * @param firsts
 *   step -> place; one more at the end
 * @param bitShift
 *   binary digits within what a bit stands for
 * @param bits
 *   whether there are values; null if nobody asks
 */
private[index] final class Directory private (
    until: Int,
    least: Long,
    greatest: Long,
    shift: Int,
    firsts: Array[Int],
    bitShift: Int,
    bits: Array[Long])
  extends Serializable {
  import Directory.BitsPerWord

  def bytes: Long = firsts.length * 4L + (if (bits == null) 0 else bits.length * 8L)

  /** The place of the last value up to `bound`; one before the first if there is none. */
  def lastUpTo(values: Array[Long], bound: Long): Int =
    if (bound < least) firsts(0) - 1
    else if (bound >= greatest) until - 1
    else {
      val step = ((bound - least) >>> shift).toInt // without a sign, so that it cannot overflow
      var low = firsts(step)
      var high = firsts(step + 1)
      while (low < high) {
        val middle = (low + high) >>> 1
        if (values(middle) <= bound) low = middle + 1 else high = middle
      }
      low - 1
    }

  /** Whether it is plain that no value is in [from, to], which is not empty; false says nothing. */
  def hasNone(from: Long, to: Long): Boolean = to < least || from > greatest || bits != null && {
    val first = (math.max(from, least) - least) >>> bitShift
    val last = (math.min(to, greatest) - least) >>> bitShift
    val (word, lastWord) = ((first / BitsPerWord).toInt, (last / BitsPerWord).toInt)
    val upTo = -1L >>> (BitsPerWord - 1 - last % BitsPerWord) // the bits of the last word that are asked for
    val since = -1L << (first % BitsPerWord)
    if (word == lastWord) (bits(word) & since & upTo) == 0
    else word + 1 == lastWord && (bits(word) & since) == 0 && (bits(lastWord) & upTo) == 0
  }
}

private[index] object Directory {
  private val LeastValues = 256 // fewer are near to each other anyway
  private val BitsPerStep = 16
  private val BitsPerWord = 64

  /** Bytes that directories take for each value, at most. */
  val BytesPerValue = 6L

  /**
   * One of [from, until), or null if there are too few values to need one.
   *
   * @param hasBits
   *   whether it is asked where there are no values
   */
  def of(values: Array[Long], from: Int, until: Int, hasBits: Boolean): Directory =
    if (until - from < LeastValues) null
    else {
      val (least, greatest) = (values(from), values(until - 1))
      val steps = Integer.highestOneBit(until - from - 1)
      val digits = 64 - java.lang.Long.numberOfLeadingZeros(greatest - least)
      val shift = math.max(0, digits - Integer.numberOfTrailingZeros(steps))
      val bitShift =
        math.max(0, digits - Integer.numberOfTrailingZeros(steps) - Integer.numberOfTrailingZeros(BitsPerStep))
      val firsts = new Array[Int](steps + 1)
      val bits = if (hasBits) new Array[Long](steps / (BitsPerWord / BitsPerStep)) else null
      var step = 0
      var place = from
      while (place < until) {
        val distance = values(place) - least
        while (step <= (distance >>> shift)) {
          firsts(step) = place
          step += 1
        }
        if (hasBits) {
          val bit = distance >>> bitShift
          bits((bit / BitsPerWord).toInt) |= 1L << (bit % BitsPerWord)
        }
        place += 1
      }
      while (step <= steps) {
        firsts(step) = until
        step += 1
      }
      new Directory(until, least, greatest, shift, firsts, bitShift, bits)
    }
}
