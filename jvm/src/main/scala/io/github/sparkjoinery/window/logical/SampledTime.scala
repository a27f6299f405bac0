package io.github.sparkjoinery.window.logical

/**
 * A row of a sample, or of a stored distribution.
 *
 * @param id
 *   a hash of the row's key
 * @param spread
 *   the hash of the key by which Spark partitions
 * @param weight
 *   the number of rows that this row stands for
 */
private[window] case class SampledTime(id: Long, spread: Int, time: Long, weight: Double)
