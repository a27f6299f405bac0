package io.github.sparkjoinery.execution.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The search of [[GroupedRows]] for many left rows at a time, step by step, each step for all of them. In a large
 * relation nearly every step waits for memory; those of different rows, in a loop with nothing else in it, wait
 * together. (Group prefetching: S. Chen, A. Ailamaki, P. B. Gibbons, T. C. Mowry, "Improving Hash Join Performance
 * through Prefetching", ICDE 2004.)
 *
 * Who calls fills in `groups` (-1 for none; or `ToBeFound`, and `keys`) and `times`, then calls `find` and `fetch`.
 *
 * @param hasTimes
 *   whether the candidates of a row end at its time; else they are all rows of its key
 * @param strict
 *   whether they end before it
 */
final class BatchedLookup(relation: GroupedRows, hasTimes: Boolean, strict: Boolean, size: Int) {
  val groups = new Array[Int](size)
  val keys = new Array[Long](size)
  val times = new Array[Long](size)

  /** Places of the first and the last candidate; the last is before the first if there is none. */
  val firsts = new Array[Int](size)
  val lasts = new Array[Int](size)

  private val ends = new Array[Int](size)
  private val guesses = new Array[Int](size)
  private val found = new Array[Long](size)
  private val longKeys = relation.index match { case index: LongKeyIndex => index; case _ => null }
  private var touched = 0L // what was read only to have it in the cache, so that the compiler does not leave that out

  /** Sets `groups`, `firsts` and `lasts` of the first `count` rows. */
  def find(count: Int): Unit = {
    if (longKeys != null) findGroups(count)
    findEnds(count)
    if (hasTimes) findLasts(count)
  }

  /** Has the rows in `lasts` ready. */
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

  /** The last candidate, or null. */
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
      // whole numbers: before t is up to t - 1
      if (strict) { if (times(i) == Long.MinValue) ends(i) = firsts(i) else times(i) -= 1 }
      guesses(i) = LastUpTo.guess(values, firsts(i), ends(i), times(i))
      i += 1
    }
    var round = 0
    while (round < BatchedLookup.Rounds) {
      i = 0
      while (i < count) { guesses(i) = LastUpTo.improve(values, firsts(i), ends(i), times(i), guesses(i)); i += 1 }
      round += 1
    }
    i = 0
    while (i < count) { lasts(i) = LastUpTo.around(values, firsts(i), ends(i), times(i), guesses(i)); i += 1 }
  }
}

object BatchedLookup {

  /** In `groups`: by `keys`. */
  val ToBeFound: Int = -3
  private val Rounds = 2
}
