package io.github.sparkjoinery.rangejoin.runtime.index

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.github.sparkjoinery.execution.rows.{InterpolationSearch, LongKeyIndex, RowKeyIndex}

/** One task's view of an index, with the state of the current search. A row is valid until the next one is read. */
final class RangeIndexReader(index: RangeIndex, beforeUpper: Boolean, afterLower: Boolean) {

  /** True if the index has no keys. */
  val isEmpty: Boolean = index.firsts.length == 1
  import RangeIndexReader._

  private val row = new UnsafeRow(index.numFields)
  private val longKeys = index.keyIndex match { case keys: LongKeyIndex => keys; case _ => null }
  private val rowKeys = index.keyIndex match { case keys: RowKeyIndex => keys; case _ => null }
  private val keyScratch = if (rowKeys == null) null else rowKeys.scratch
  private val (firsts, starts, ends, maxTree) = (index.firsts, index.starts, index.ends, index.maxTree)
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

  /** The place of the key's first point from `from` on, or -1 if it is certain that no point is up to `until`. */
  private def firstWithin(from: Long, until: Long, end: Int): Int = {
    val directory = if (directories == null) null else directories(key)
    if (directory != null) directory.firstWithin(starts, from, until)
    else if (from == Long.MinValue) first
    else InterpolationSearch.search(starts, first, end, from - 1) + 1
  }

  /** The last place of the key that starts up to a bound. It must not lie before `from`. */
  private def search(from: Int, end: Int, bound: Long): Int = {
    val directory = if (directories == null) null else directories(key)
    if (directory == null) InterpolationSearch.search(starts, from, end, bound) else directory.lastUpTo(starts, bound)
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
      val place = maxTree.lastAtLeast(least, first, last)
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
