package io.github.sparkjoinery.rangejoin.runtime.index

import java.util.concurrent.TimeUnit.NANOSECONDS

import io.github.sparkjoinery.execution.rows.{KeyIndex, RowPages}
import io.github.sparkjoinery.rangejoin.logical.RangeTerms

/**
 * Rows in memory, each with a point or an interval. The rows are grouped by key, and each key's rows are sorted by
 * their starts. Starts and ends are longs in arrays of their own, so that a search reads no row. An index is read-only.
 * The tasks of an executor share a broadcast index.
 *
 * Rows that cannot match come after the rows that have bounds.
 *
 * Source: eBay's range index (X. Zhang, "Spark optimisation: high-performance range join", 2021), with a [[MaxTree]] in
 * place of the active rows.
 *
 * @param firsts
 *   key number -> place of its first row; one more at the end
 * @param addresses
 *   place -> address of the row
 * @param starts
 *   place -> start of the row's interval, or its point
 * @param ends
 *   place -> end of the row's interval; null if all rows are points
 * @param directories
 *   key number -> directory of its starts; null for keys with few rows, and if there is none at all
 * @param prefix
 *   the bytes that all texts in the bounds begin with; starts and ends are made from the bytes after them
 * @param buildTimeMs
 *   milliseconds from the first row to the last array
 */
final class RangeIndex private[index] (
    val numFields: Int,
    private[index] val keyIndex: KeyIndex,
    private[index] val pages: RowPages,
    private[index] val firsts: Array[Int],
    private[index] val addresses: Array[Long],
    private[index] val starts: Array[Long],
    private[index] val ends: Array[Long],
    private[index] val maxTree: MaxTree,
    private[index] val directories: Array[RankDirectory],
    private[index] val prefix: Array[Byte],
    val buildTimeMs: Long) extends SearchableRelation with Serializable {

  override def index: RangeIndex = this

  /** The number of all rows, including rows that cannot match. */
  def numRows: Int = addresses.length

  override def estimatedSize: Long =
    pages.bytes + keyIndex.bytes + firsts.length * 4L + addresses.length * 8L + starts.length * 8L +
      (if (ends == null) 0 else ends.length * 8L + maxTree.bytes) +
      (if (directories == null) 0
       else directories.iterator.filter(_ != null).map(_.bytes).sum + directories.length * 4L)

  /**
   * The reader of one task.
   *
   * @param beforeUpper
   *   true if a row has to start before the upper bound of a probe; false if it may start there
   * @param afterLower
   *   true if a row has to end after the lower bound; false if it may end there
   */
  def reader(beforeUpper: Boolean, afterLower: Boolean): RangeIndexReader =
    new RangeIndexReader(this, beforeUpper, afterLower)

  /** The reader of one task of a join. */
  def reader(terms: RangeTerms): RangeIndexReader = reader(terms.upper.exists(_.strict), terms.lower.exists(_.strict))
}

private[index] object RangeIndex {

  /**
   * An index with the structures for its search.
   *
   * @param begun
   *   nanoseconds of the clock when the first row came
   */
  def build(
      numFields: Int,
      keyIndex: KeyIndex,
      pages: RowPages,
      firsts: Array[Int],
      addresses: Array[Long],
      starts: Array[Long],
      ends: Array[Long],
      prefix: Array[Byte],
      begun: Long): RangeIndex = {
    val maxTree = if (ends == null) null else MaxTree.build(ends)
    val directories =
      Array.tabulate(firsts.length - 1)(key => RankDirectory.build(starts, firsts(key), firsts(key + 1)))
    val found = if (directories.forall(_ == null)) null else directories
    val buildTimeMs = NANOSECONDS.toMillis(System.nanoTime() - begun)
    new RangeIndex(
      numFields,
      keyIndex,
      pages,
      firsts,
      addresses,
      starts,
      ends,
      maxTree,
      found,
      prefix,
      buildTimeMs)
  }
}
