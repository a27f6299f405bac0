package io.github.sparkjoinery.window.runtime.kernels

/**
 * Computes functions over the frames of a partition's rows, batch by batch. Each frame takes constant amortised time.
 */
abstract class Kernel {

  /** Number of rows of the batch that have results. If a row throws, the rows before it have results. */
  var computed = 0

  /** Called before the first row of a partition. */
  def clear(): Unit

  /**
   * Called after `clear` with the first row of the first requested frame. Growing functions ignore it and begin with
   * the partition.
   */
  def skipTo(lo: Int): Unit = ()

  /**
   * Computes the results of a batch.
   *
   * @param first
   *   the first row of the batch, by its number in the partition
   * @param count
   *   the number of rows in the batch
   * @param los
   *   per row of the batch, the first row of its frame; never falls
   * @param his
   *   per row of the batch, the row after its frame; never falls
   */
  def compute(first: Int, count: Int, los: Array[Int], his: Array[Int]): Unit
}
