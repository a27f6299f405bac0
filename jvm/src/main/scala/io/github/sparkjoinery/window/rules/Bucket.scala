package io.github.sparkjoinery.window.rules

private object Bucket {
  private val Bits = 10

  /** Takes the place of a distance that no cut needs. */
  val Uncounted: Int = (1 << Bits) - 1

  def apply(part: Int, before: Int, after: Int): Long = (part.toLong << 2 * Bits) | (before.toLong << Bits) | after
  def part(bucket: Long): Int = (bucket >> 2 * Bits).toInt
  def before(bucket: Long): Int = (bucket >> Bits).toInt & ((1 << Bits) - 1)
  def after(bucket: Long): Int = bucket.toInt & ((1 << Bits) - 1)

  /**
   * Reduces a distance to its exponent and the three bits after the leading one.
   *
   * @param distance
   *   from 1 on, unsigned
   */
  def ofDistance(distance: Long): Int = {
    val exponent = 63 - java.lang.Long.numberOfLeadingZeros(distance)
    val leading = if (exponent >= 3) distance >>> exponent - 3 else distance << 3 - exponent
    exponent << 3 | (leading & 7).toInt
  }

  /** The greatest distance in a bucket. */
  def most(ofDistance: Int): BigInt = {
    val (exponent, leading) = (ofDistance >> 3, BigInt(8 + (ofDistance & 7)))
    if (exponent >= 3) (leading + 1 << exponent - 3) - 1 else leading >> 3 - exponent
  }
}
