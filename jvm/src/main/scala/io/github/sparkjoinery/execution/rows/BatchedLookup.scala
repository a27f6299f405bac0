package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Searches [[GroupedRows]] for a batch of left rows, one step of the search at a time for all of them. Nearly every
 * step in a large relation is a cache miss; in a tight loop the misses of different rows overlap. (Group prefetching:
 * S. Chen, A. Ailamaki, P. B. Gibbons, T. C. Mowry, "Improving Hash Join Performance through Prefetching", ICDE 2004.)
 *
 * The caller fills in `times` and `groups`, then calls `find` and `fetch`. A group is the number of a key, -1 if the
 * key is absent, or `ToBeFound`, which looks up the long in `keys`.
 *
 * @param hasTimes
 *   true if a row's candidates end at its time; else all rows of its key are candidates
 * @param strict
 *   true if a candidate at exactly the row's time is excluded
 */
final class BatchedLookup(relation: GroupedRows, hasTimes: Boolean, strict: Boolean, size: Int) {
  val groups = new Array[Int](size)
  val keys = new Array[Long](size)
  val times = new Array[Long](size)

  /** Positions of the first and the last candidate; without candidates, the last is before the first. */
  val firsts = new Array[Int](size)
  val lasts = new Array[Int](size)

  private val ends = new Array[Int](size)
  private val guesses = new Array[Int](size)
  private val found = new Array[Long](size)
  private val longKeys = relation.index match { case index: LongKeyIndex => index; case _ => null }
  private var touched = 0L // sums up the values of reads that only prefetch, so that the compiler keeps them

  /** Sets `groups`, `firsts` and `lasts` for the first `count` rows. */
  def find(count: Int): Unit = {
    if (longKeys != null) findGroups(count)
    findEnds(count)
    if (hasTimes) findLasts(count)
  }

  /** Prefetches the last candidate of each row. */
  def fetch(count: Int): Unit = {
    val addresses = relation.addresses
    var i = 0
    while (i < count) {
      found(i) = if (lasts(i) < firsts(i)) -1 else addresses(lasts(i))
      i += 1
    }
    i = 0
    while (i < count) {
      if (found(i) >= 0) touched += relation.pages.touch(found(i))
      i += 1
    }
  }

  /** Reads the last candidate of left row i into `row`; null if there is none. */
  def row(i: Int, row: UnsafeRow): UnsafeRow =
    if (found(i) < 0) null else relation.pages.read(found(i), row)

  private def findGroups(count: Int): Unit = {
    var i = 0
    while (i < count) { touched += longKeys.touch(keys(i)); i += 1 }
    i = 0
    while (i < count) {
      if (groups(i) == BatchedLookup.ToBeFound) groups(i) = longKeys.find(keys(i))
      i += 1
    }
  }

  private def findEnds(count: Int): Unit = {
    val starts = relation.starts
    var i = 0
    while (i < count) {
      val group = groups(i)
      firsts(i) = if (group < 0) 0 else starts(group)
      ends(i) = if (group < 0) 0 else starts(group + 1)
      lasts(i) = ends(i) - 1
      i += 1
    }
  }

  private def findLasts(count: Int): Unit = {
    val values = relation.times
    var i = 0
    while (i < count) {
      // for longs, before t means up to t - 1
      if (strict) { if (times(i) == Long.MinValue) ends(i) = firsts(i) else times(i) -= 1 }
      guesses(i) = InterpolationSearch.guess(values, firsts(i), ends(i), times(i))
      i += 1
    }
    var round = 0
    while (round < BatchedLookup.Rounds) {
      i = 0
      while (i < count) {
        guesses(i) = InterpolationSearch.improve(values, firsts(i), ends(i), times(i), guesses(i)); i += 1
      }
      round += 1
    }
    i = 0
    while (i < count) {
      lasts(i) = InterpolationSearch.around(values, firsts(i), ends(i), times(i), guesses(i)); i += 1
    }
  }
}

object BatchedLookup {

  /** Value in `groups` for a key that `find` looks up in `keys`. */
  val ToBeFound: Int = -3
  private val Rounds = 2
}
