package io.github.sparkjoinery.rangejoin.runtime.index

/**
 * Finds a value among ascending longs. The range from the least to the greatest value is cut into even steps, and 32
 * steps share a word. A word has a bit for each step that has values, and the place of the first value in its steps.
 * Each step with a bit has at least one value, so the count of bits before a step leads near its place. A search takes
 * one look at a word and one or two at neighbouring values; bisection would take twenty looks far apart. If most values
 * are in few steps, the search bisects those.
 *
 * Ranges that are narrow compared with the distance between values mostly meet steps without a bit. One look shows that
 * they hold no value.
 *
 * Sources: a radix table over sorted keys (A. Kipf et al., "RadixSpline: a single-pass learned index", 2020), without
 * the spline; counting bits to a rank (G. Jacobson, "Space-efficient static trees and graphs", 1989).
 *
 * @param from
 *   the place of the first value
 * @param until
 *   the place after the last value
 * @param least
 *   the first value
 * @param greatest
 *   the last value
 * @param shift
 *   the number of binary digits within a step
 * @param words
 *   the place in the upper half, the bits in the lower half; one more word at the end
 */
private[index] final class RankDirectory private (
    from: Int,
    until: Int,
    least: Long,
    greatest: Long,
    shift: Int,
    words: Array[Long])
  extends Serializable {
  import RankDirectory._

  def bytes: Long = words.length * 8L

  /** The place of the last value up to `bound`; one before the first if there is none. */
  def lastUpTo(values: Array[Long], bound: Long): Int =
    if (bound < least) from - 1
    else if (bound >= greatest) until - 1
    else {
      val step = stepOf(bound + 1)
      val word = wordOf(step)
      firstFrom(values, bound + 1, near(words(word), step), placeIn(words(word + 1))) - 1
    }

  /** The place of the first value from `lower` on, or -1 if the directory shows that no value is in [lower, upper]. */
  def firstWithin(values: Array[Long], lower: Long, upper: Long): Int =
    if (upper < least || lower > greatest) Nowhere
    else if (lower <= least) from
    else {
      val step = stepOf(lower)
      val lastStep = stepOf(math.min(upper, greatest))
      val (word, lastWord) = (wordOf(step), wordOf(lastStep))
      val (found, next) = (words(word), words(word + 1))
      val since = found.toInt & (-1 << step.toInt) // the bits from the step on
      if (word == lastWord) {
        if ((since & upTo(lastStep)) == 0) Nowhere else firstFrom(values, lower, near(found, step), placeIn(next))
      } else if (since != 0) firstFrom(values, lower, near(found, step), placeIn(next))
      else if (word + 1 == lastWord && (next.toInt & upTo(lastStep)) == 0) Nowhere
      else placeIn(next)
    }

  /** The step of a value. The difference is taken without a sign, so that it cannot overflow. */
  private def stepOf(value: Long): Long = (value - least) >>> shift

  /** A place in the word of a step. All values before it are before the step. */
  private def near(word: Long, step: Long): Int =
    placeIn(word) + Integer.bitCount(word.toInt & ((1 << step.toInt) - 1)) // shifts use five digits only

  /** The first place of [near, end) whose value is `least` or more, or `end`. */
  private def firstFrom(values: Array[Long], least: Long, near: Int, end: Int): Int = {
    val soon = math.min(near + Soon, end)
    var low = near
    while (low < soon && values(low) < least) low += 1
    if (low == soon) {
      var high = end
      while (low < high) {
        val middle = (low + high) >>> 1
        if (values(middle) < least) low = middle + 1 else high = middle
      }
    }
    low
  }
}

private[index] object RankDirectory {
  private val LeastValues = 256 // fewer are near each other anyway
  private val StepsPerValue = 16 // at most, and at least half as many
  private val StepsPerWord = 32
  private val Soon = 4
  private val Nowhere = -1

  /** The most bytes that directories take for each value. */
  val BytesPerValue: Long = StepsPerValue * 8L / StepsPerWord

  /** A directory of the values in [from, until), or null if there are too few to need one. */
  def build(values: Array[Long], from: Int, until: Int): RankDirectory =
    if (until - from < LeastValues) null
    else {
      val (least, greatest) = (values(from), values(until - 1))
      val steps = Integer.highestOneBit(until - from - 1).toLong * StepsPerValue
      val digits = 64 - java.lang.Long.numberOfLeadingZeros(greatest - least)
      val shift = math.max(0, digits - java.lang.Long.numberOfTrailingZeros(steps))
      val words = new Array[Long]((steps / StepsPerWord).toInt + 1)
      var next = 0
      def startUpTo(word: Int, place: Int): Unit = while (next <= word) {
        words(next) = place.toLong << 32
        next += 1
      }
      var place = from
      while (place < until) {
        val step = (values(place) - least) >>> shift
        startUpTo(wordOf(step), place)
        words(wordOf(step)) |= 1L << (step & (StepsPerWord - 1))
        place += 1
      }
      startUpTo(words.length - 1, until)
      new RankDirectory(from, until, least, greatest, shift, words)
    }

  private def wordOf(step: Long): Int = (step / StepsPerWord).toInt
  private def placeIn(word: Long): Int = (word >>> 32).toInt

  /** The bits up to a step, in its word. */
  private def upTo(step: Long): Int = -1 >>> (StepsPerWord - 1 - (step.toInt & (StepsPerWord - 1)))
}
