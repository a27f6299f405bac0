package io.github.sparkjoinery.execution.skew

import scala.collection.mutable
import scala.reflect.ClassTag
import scala.util.Random

/**
 * Takes a uniform random sample from an unknown number of rows. It decides before it sees a row whether to keep it, so
 * most rows cost one comparison. (Li's algorithm L: K.-H. Li, "Reservoir-Sampling Algorithms of Time Complexity O(n(1 +
 * log(N/n)))", ACM TOMS 1994.) The same rows in the same order give the same sample.
 *
 * @param size
 *   most rows in the sample
 */
final class Reservoir[T: ClassTag](size: Int) {
  private val rows = new mutable.ArrayBuffer[T]
  private val random = new Random(0)
  private var next = 0L
  private var weight = 1.0

  /** Number of rows seen. */
  var count = 0L

  /** True if the caller must pass the current row to [[keep]]; else it must call [[skip]]. */
  def wantsNext: Boolean = count == next

  def skip(): Unit = count += 1

  def keep(row: T): Unit = {
    if (rows.length < size) rows += row else rows(random.nextInt(size)) = row
    if (rows.length < size) next += 1
    else {
      weight *= math.exp(math.log(1 - random.nextDouble()) / size)
      next += math.floor(math.log(1 - random.nextDouble()) / math.log1p(-weight)).toLong + 1
    }
    count += 1
  }

  def kept: Seq[T] = rows.toVector

  /** Number of rows that each sampled row represents. */
  def rowsPerKept: Double = count.toDouble / math.max(rows.length, 1)
}
