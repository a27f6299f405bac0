package io.github.sparkjoinery.rangejoin.index

import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.joinery.ShippedRelation

import io.github.sparkjoinery.execution.rows.{KeyIndex, LastUpTo, LongKeyIndex, RowKeyIndex, RowPages}

/** A broadcast relation that a range join searches. */
abstract class SearchableRelation extends ShippedRelation {
  def index: RangeIndex
}

/**
 * Rows in memory, each with a point or an interval. The rows are grouped by key, and each key's rows are sorted by
 * their starts. Starts and ends are longs in arrays of their own, so that a search reads no row. An index is read-only.
 * The tasks of an executor share a broadcast index.
 *
 * Rows that cannot match come after the rows that have bounds.
 *
 * Source: eBay's range index (X. Zhang, "Spark optimisation: high-performance range join", 2021), with a tree of
 * [[Maxima]] in place of the active rows.
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
    private[index] val maxima: Maxima,
    private[index] val directories: Array[Directory],
    private[index] val prefix: Array[Byte],
    val buildTimeMs: Long) extends SearchableRelation with Serializable {

  override def index: RangeIndex = this

  /** The number of all rows, including rows that cannot match. */
  def numRows: Int = addresses.length

  override def estimatedSize: Long =
    pages.bytes + keyIndex.bytes + firsts.length * 4L + addresses.length * 8L + starts.length * 8L +
      (if (ends == null) 0 else ends.length * 8L + maxima.bytes) +
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
}

private[index] object RangeIndex {

  /**
   * An index with the structures for its search.
   *
   * @param begun
   *   nanoseconds of the clock when the first row came
   */
  def of(
      numFields: Int,
      keyIndex: KeyIndex,
      pages: RowPages,
      firsts: Array[Int],
      addresses: Array[Long],
      starts: Array[Long],
      ends: Array[Long],
      prefix: Array[Byte],
      begun: Long): RangeIndex = {
    val maxima = if (ends == null) null else Maxima.of(ends)
    val directories =
      Array.tabulate(firsts.length - 1)(key => Directory.of(starts, firsts(key), firsts(key + 1)))
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
      maxima,
      found,
      prefix,
      buildTimeMs)
  }
}

/** One task's view of an index, with the state of the current search. A row is valid until the next one is read. */
final class RangeIndexReader(index: RangeIndex, beforeUpper: Boolean, afterLower: Boolean) {

  /** True if the index has no keys. */
  val isEmpty: Boolean = index.firsts.length == 1
  import RangeIndexReader._

  private val row = new UnsafeRow(index.numFields)
  private val longKeys = index.keyIndex match { case keys: LongKeyIndex => keys; case _ => null }
  private val rowKeys = index.keyIndex match { case keys: RowKeyIndex => keys; case _ => null }
  private val keyScratch = if (rowKeys == null) null else rowKeys.scratch
  private val (firsts, starts, ends, maxima) = (index.firsts, index.starts, index.ends, index.maxima)
  private val directories = index.directories

  private var key = -1
  private var first = 0 // the places left to search are first to last
  private var last = -1
  private var least = 0L // the least end of a candidate, if intervals are searched backwards
  private var isBackwards = false
  private var found = 0L

  /** The prefix with which bounds are compared before their longs are made. */
  def prefix: Array[Byte] = index.prefix

  /** Number of a key, or -1. */
  def numberOf(key: Long): Int = longKeys.find(key)
  def numberOf(key: UnsafeRow): Int = rowKeys.find(key, keyScratch)

  /** Starts a search. Candidates are the rows of a key that start up to `upper` and end from `lower` on. */
  def between(key: Int, lower: Long, upper: Long): Unit = {
    begin(key)
    if (beforeUpper && upper == Long.MinValue || afterLower && lower == Long.MaxValue) return
    val until = if (beforeUpper) upper - 1 else upper // longs are whole numbers
    val from = if (afterLower) lower + 1 else lower
    val end = firsts(key + 1)
    first = firsts(key)
    isBackwards = ends != null
    if (isBackwards) {
      last = if (until == Long.MaxValue) end - 1 else search(first, end, until)
      least = from
    } else if (from <= until) {
      val found = firstWithin(from, until, end)
      if (found >= 0) {
        first = found
        last = lastUpTo(until, end)
      }
    }
  }

  /**
   * The last place from `first` on that starts up to a bound. It is usually a few steps away, and searched otherwise.
   */
  private def lastUpTo(bound: Long, end: Int): Int = if (bound == Long.MaxValue) end - 1
  else {
    val near = math.min(first + Near, end)
    var place = first
    while (place < near && starts(place) <= bound) place += 1
    if (place < near || place == end) place - 1 else search(place, end, bound)
  }

  /** The place of the key's first point from `from` on, or -1 if it is plain that no point is up to `until`. */
  private def firstWithin(from: Long, until: Long, end: Int): Int = {
    val directory = if (directories == null) null else directories(key)
    if (directory != null) directory.firstWithin(starts, from, until)
    else if (from == Long.MinValue) first
    else LastUpTo.search(starts, first, end, from - 1) + 1
  }

  /** The last place of the key that starts up to a bound. It must not lie before `from`. */
  private def search(from: Int, end: Int, bound: Long): Int = {
    val directory = if (directories == null) null else directories(key)
    if (directory == null) LastUpTo.search(starts, from, end, bound) else directory.lastUpTo(starts, bound)
  }

  /** True if all points of a key are known to be within `reach` of a point. For intervals, nothing is known. */
  def areWithin(reach: Long, point: Long, key: Int): Boolean = firsts(key) == firsts(key + 1) || ends == null && {
    val (least, greatest) = (starts(firsts(key)), starts(firsts(key + 1) - 1))
    (least >= point || point - least >= 0 && point - least <= reach) &&
    (greatest <= point || greatest - point >= 0 && greatest - point <= reach)
  }

  /** Starts a search whose candidates are all rows of a key. */
  def all(key: Int): Unit = {
    begin(key)
    first = firsts(key)
    last = firsts(key + 1) - 1
  }

  /** Starts a search without candidates. */
  def none(): Unit = begin(-1)

  private def begin(key: Int): Unit = {
    this.key = key
    first = 0
    last = -1
    isBackwards = false
  }

  /** The place of the next candidate, or -1. */
  def next(): Int = {
    if (isBackwards) {
      val place = maxima.lastAtLeast(least, first, last)
      last = place - 1
      if (place >= first) { found += 1; place }
      else -1
    } else if (first <= last) {
      first += 1
      found += 1
      first - 1
    } else -1
  }

  /** The number of candidates since the last call. */
  def candidates(): Long = {
    val candidates = found
    found = 0
    candidates
  }

  def row(place: Int): UnsafeRow = index.pages.read(index.addresses(place), row)
}

private object RangeIndexReader {
  val Near = 8
}
