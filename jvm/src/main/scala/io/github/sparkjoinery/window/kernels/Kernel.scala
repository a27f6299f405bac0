package io.github.sparkjoinery.window.kernels

/** Computes functions over the frames of a partition's rows, batch by batch, each frame in constant amortised time. */
abstract class Kernel {

  /** Of how many rows of the batch the results are there: where one fails, of those before it. */
  var computed = 0

  /** Before a partition's first row. */
  def clear(): Unit

  /**
   * After that, where the first frame that is asked for begins. What only grows begins with the partition nevertheless.
   */
  def skipTo(lo: Int): Unit = ()

  /**
   * @param first
   *   row of the batch, by its number in the partition
   * @param count
   *   rows in the batch
   * @param los
   *   by row of the batch, the first row of its frame; never falls
   * @param his
   *   the row after the last; never falls
   */
  def compute(first: Int, count: Int, los: Array[Int], his: Array[Int]): Unit
}
