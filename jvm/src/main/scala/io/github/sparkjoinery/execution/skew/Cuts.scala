package io.github.sparkjoinery.execution.skew

import scala.collection.mutable

/**
 * Computes the cuts between parts of time. Cuts are ascending, and part i begins at the i-th cut. Badly placed cuts
 * make parts of unequal size, but never change the result.
 */
object Cuts {

  /** Returns what belongs to each partition. */
  def byPartition[T](all: Seq[(Int, T)]): Map[Int, Seq[T]] =
    all.groupBy(_._1).map { case (partition, of) => partition -> of.map(_._2) }

  /**
   * Returns the part of a time: the number of cuts that are not after it.
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
   * Cuts a sample at its quantiles.
   *
   * @param sample
   *   times, ascending, each with the number of rows that it represents
   * @param parts
   *   wanted number of parts; there are fewer if one time has more rows than a part should have
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
