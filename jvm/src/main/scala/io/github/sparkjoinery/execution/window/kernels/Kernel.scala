package io.github.sparkjoinery.execution.window.kernels

/** Computes functions over the frames of a partition's rows, batch by batch, each frame in constant amortised time. */
trait Kernel {
  /** Before a partition's first row. */
  def clear(): Unit

  /**
   * @param first row of the batch, by its number in the partition
   * @param count rows in the batch
   * @param los   by row of the batch, the first row of its frame; never falls
   * @param his   the row after the last; never falls
   */
  def compute(first: Int, count: Int, los: Array[Int], his: Array[Int]): Unit
}
