package io.github.sparkjoinery.execution.rows

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** The place of the last value up to a bound, against counting. */
class InterpolationSearchSuite extends AnyFunSuite {

  private def spread(random: Random, size: Int): Map[String, Array[Long]] = Map(
    "evenly" -> Array.fill(size)(random.nextLong() >> 20),
    "over all longs" -> Array.fill(size)(random.nextLong()),
    "in two clusters" -> Array.fill(size)(random.nextInt(1000) + (if (random.nextBoolean()) 1L << 60 else 0)),
    "exponentially" -> Array.fill(size)(1L << random.nextInt(62)),
    "with many equal ones" -> Array.fill(size)(random.nextInt(5).toLong),
    "not at all" -> Array.fill(size)(42L),
    "near the largest, which are one double" -> Array.fill(size)(Long.MaxValue - random.nextInt(100)),
    "at both ends" -> Array.fill(size)(if (random.nextBoolean()) Long.MinValue else Long.MaxValue)
  )

  for (size <- Seq(0, 1, 2, 511, 512, 513, 600, 20000)) test(s"$size values") {
    val random = new Random(size)
    for ((how, unsorted) <- spread(random, size)) {
      val values = unsorted.sorted
      val near = values.flatMap(value => Seq(value - 1, value, value + 1))
      val bounds = random.shuffle(near.toSeq).take(2000) ++ Seq(Long.MinValue, -1L, 0L, Long.MaxValue) ++ Seq.fill(200)(
        random.nextLong())
      val around = Array.fill(3)(Long.MaxValue) ++ values ++ Array.fill(3)(Long.MinValue) // not to be looked at
      for (bound <- bounds) {
        val upTo = {
          val i = java.util.Arrays.binarySearch(values, bound); if (i >= 0) values.lastIndexOf(bound) else -i - 2
        }
        assert(InterpolationSearch.search(around, 3, 3 + size, bound) == 3 + upTo, s"$how, $bound")
      }
    }
  }
}
