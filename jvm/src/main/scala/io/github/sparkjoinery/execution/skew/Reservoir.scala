package io.github.sparkjoinery.execution.skew

import scala.collection.mutable
import scala.reflect.ClassTag
import scala.util.Random

/**
 * An even sample of rows of which nobody knows how many there will be. It tells before a row is looked at whether it is
 * wanted, so that most rows cost a comparison. (Li's algorithm L: K.-H. Li, "Reservoir-Sampling Algorithms of Time
 * Complexity O(n(1 + log(N/n)))", ACM TOMS 1994.) The same rows in the same order give the same sample.
 *
 * @param size
 *   most that are kept
 */
final class Reservoir[T: ClassTag](size: Int) {
  private val rows = new mutable.ArrayBuffer[T]
  private val random = new Random(0)
  private var next = 0L
  private var weight = 1.0

  /** How many rows there have been. */
  var count = 0L

  /**
   * Whether the row at hand is wanted; if so it is to be given to [[keep]] at once, else to be passed over by [[skip]].
   */
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

  def kept: Seq[T] = rows.toSeq

  /** How many rows each of those kept stands for. */
  def rowsPerKept: Double = count.toDouble / math.max(rows.length, 1)
}
