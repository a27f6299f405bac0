package io.github.sparkjoinery.window.rows

/**
 * Sorts numbers of rows by a long that each row has, and rows of equal longs by a comparison of the rows. Radix sort,
 * because the longs are times or numbers: a pass for each 11 bits in which any two of them differ.
 */
private[window] object IndexSort {

  /** Bytes per row that [[sort]] needs beside its arguments. */
  val ScratchBytes = 24

  /**
   * @param rows
   *   to be sorted, from `from` until `until`
   * @param keys
   *   by row
   * @param compare
   *   of two rows with equal keys; null: they may be in any order, and keep theirs
   */
  def sort(rows: Array[Int], from: Int, until: Int, keys: Array[Long], compare: IntComparator): Unit = {
    if (!isSorted(rows, from, until, keys)) {
      if (until - from <= Few) insertionSort(rows, from, until, keys) else radixSort(rows, from, until, keys)
    }
    if (compare != null) sortTies(rows, from, until, keys, compare)
  }

  /** Of two rows, by number. */
  trait IntComparator { def compare(a: Int, b: Int): Int }

  private val Few = 48
  private val Bits = 11
  private val Buckets = 1 << Bits

  private def isSorted(rows: Array[Int], from: Int, until: Int, keys: Array[Long]): Boolean = {
    var i = from + 1
    while (i < until && keys(rows(i - 1)) <= keys(rows(i))) i += 1
    i >= until
  }

  private def insertionSort(rows: Array[Int], from: Int, until: Int, keys: Array[Long]): Unit = {
    var i = from + 1
    while (i < until) {
      val row = rows(i)
      val key = keys(row)
      var j = i - 1
      while (j >= from && keys(rows(j)) > key) { rows(j + 1) = rows(j); j -= 1 }
      rows(j + 1) = row
      i += 1
    }
  }

  private def radixSort(rows: Array[Int], from: Int, until: Int, keys: Array[Long]): Unit = {
    val n = until - from
    var (theseKeys, otherKeys) = (new Array[Long](n), new Array[Long](n))
    var (these, others) = (java.util.Arrays.copyOfRange(rows, from, until), new Array[Int](n))
    var differing = 0L
    var i = 0
    while (i < n) {
      theseKeys(i) = keys(these(i)) ^ Long.MinValue // as unsigned
      differing |= theseKeys(i) ^ theseKeys(0)
      i += 1
    }
    val counts = new Array[Int](Buckets + 1)
    var shift = 0
    while (shift < 64) {
      if (((differing >>> shift) & (Buckets - 1)) != 0) {
        java.util.Arrays.fill(counts, 0)
        i = 0
        while (i < n) { counts(((theseKeys(i) >>> shift) & (Buckets - 1)).toInt + 1) += 1; i += 1 }
        i = 0
        while (i < Buckets) { counts(i + 1) += counts(i); i += 1 }
        i = 0
        while (i < n) {
          val bucket = ((theseKeys(i) >>> shift) & (Buckets - 1)).toInt
          val at = counts(bucket)
          counts(bucket) = at + 1
          otherKeys(at) = theseKeys(i)
          others(at) = these(i)
          i += 1
        }
        val (swappedKeys, swapped) = (theseKeys, these)
        theseKeys = otherKeys; these = others
        otherKeys = swappedKeys; others = swapped
      }
      shift += Bits
    }
    System.arraycopy(these, 0, rows, from, n)
  }

  private def sortTies(rows: Array[Int], from: Int, until: Int, keys: Array[Long], compare: IntComparator): Unit = {
    var start = from
    while (start < until) {
      var end = start + 1
      while (end < until && keys(rows(end)) == keys(rows(start))) end += 1
      if (end - start > 1) mergeSort(rows, start, end, compare)
      start = end
    }
  }

  /** Stable. */
  private def mergeSort(rows: Array[Int], from: Int, until: Int, compare: IntComparator): Unit =
    mergeSort(java.util.Arrays.copyOfRange(rows, from, until), rows, 0, until - from, from, compare)

  /** Sorts what is in both arrays into `target`. */
  private def mergeSort(
      source: Array[Int],
      target: Array[Int],
      from: Int,
      until: Int,
      offset: Int,
      compare: IntComparator): Unit = {
    if (until - from <= 6) {
      var i = from + 1
      while (i < until) {
        val row = target(offset + i)
        var j = i - 1
        while (j >= from && compare.compare(target(offset + j), row) > 0) {
          target(offset + j + 1) = target(offset + j); j -= 1
        }
        target(offset + j + 1) = row
        i += 1
      }
    } else {
      val middle = (from + until) >>> 1
      mergeSort(target, source, from + offset, middle + offset, -offset, compare)
      mergeSort(target, source, middle + offset, until + offset, -offset, compare)
      var (i, j, k) = (from, middle, from)
      while (k < until) {
        if (j >= until || i < middle && compare.compare(source(i), source(j)) <= 0) {
          target(offset + k) = source(i); i += 1
        } else { target(offset + k) = source(j); j += 1 }
        k += 1
      }
    }
  }
}
