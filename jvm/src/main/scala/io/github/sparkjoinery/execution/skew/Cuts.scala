package io.github.sparkjoinery.execution.skew

import scala.collection.mutable

/**
 * Where times are cut into parts: cuts are ascending, and part i holds the times from the i-th cut on, before the next.
 * A bad cut costs balance, never a result.
 */
object Cuts {

  /**
   * The part that a time belongs to: how many cuts there are up to it.
   *
   * @param cuts
   *   ascending
   */
  def partOf(time: Long, cuts: Array[Long]): Int = {
    var low = 0
    var high = cuts.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (cuts(middle) <= time) low = middle + 1 else high = middle
    }
    low
  }

  /**
   * Cuts at quantiles.
   *
   * @param sample
   *   times, ascending, each with the number of rows that it stands for
   * @param parts
   *   how many there are to be; there are fewer where one time stands for more rows than a part has
   */
  def quantiles(sample: Seq[(Long, Double)], parts: Int): Array[Long] = {
    val total = sample.map(_._2).sum
    var sum = 0.0
    val cuts = mutable.ArrayBuffer.empty[Long]
    sample.foreach { case (time, weight) =>
      sum += weight
      if (sum > total * (cuts.length + 1) / parts && cuts.length < parts - 1) cuts += time
    }
    cuts.toArray
  }
}
