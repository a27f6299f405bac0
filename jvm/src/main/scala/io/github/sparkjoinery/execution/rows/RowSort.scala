package io.github.sparkjoinery.execution.rows

import java.util.Comparator

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.util.collection.unsafe.sort.RadixSort

/**
 * Sorts ranges of two parallel arrays in place: the longs of rows, and their handles, which are addresses or numbers.
 * Rows with equal longs are sorted by a comparison of their handles. The sort is stable.
 *
 * @param ties
 *   compares the handles of rows with equal longs; null if such rows are equal
 */
private[sparkjoinery] final class RowSort(longs: Array[Long], handles: Array[Long], ties: RowSort.HandleComparator) {
  private var heldLongs = Array.emptyLongArray
  private var heldHandles = Array.emptyLongArray

  /** Sorts each range between two neighbours of `starts`. */
  def sortEach(starts: Array[Int]): Unit = {
    var i = 1
    while (i < starts.length) { sort(starts(i - 1), starts(i)); i += 1 }
  }

  /** Sorts [from, until). Sorted input costs one comparison per row. */
  def sort(from: Int, until: Int): Unit = if (!isSorted(from, until)) {
    if (until - from > RowSort.MostForMerge) radixSort(from, until) else mergeSort(from, until)
  }

  private def isSorted(from: Int, until: Int): Boolean = {
    var i = from + 1
    while (i < until && compare(longs(i - 1), handles(i - 1), longs(i), handles(i)) <= 0) i += 1
    i >= until
  }

  private def compare(long: Long, handle: Long, otherLong: Long, other: Long): Int =
    if (long < otherLong) -1
    else if (long > otherLong) 1
    else if (ties == null) 0
    else ties.compare(handle, other)

  private def mergeSort(from: Int, until: Int): Unit =
    if (until - from <= RowSort.MostForInsertion) insertionSort(from, until)
    else {
      val middle = (from + until) >>> 1
      mergeSort(from, middle)
      mergeSort(middle, until)
      if (compare(longs(middle - 1), handles(middle - 1), longs(middle), handles(middle)) > 0)
        merge(from, middle, until)
    }

  /** Merges two sorted ranges that are next to each other. The first is copied away. */
  private def merge(from: Int, middle: Int, until: Int): Unit = {
    val held = middle - from
    if (heldLongs.length < held) {
      heldLongs = new Array[Long](held)
      heldHandles = new Array[Long](held)
    }
    System.arraycopy(longs, from, heldLongs, 0, held)
    System.arraycopy(handles, from, heldHandles, 0, held)
    var i = 0
    var j = middle
    var to = from
    while (i < held) {
      if (j < until && compare(heldLongs(i), heldHandles(i), longs(j), handles(j)) > 0) {
        longs(to) = longs(j); handles(to) = handles(j); j += 1
      } else { longs(to) = heldLongs(i); handles(to) = heldHandles(i); i += 1 }
      to += 1
    }
  }

  private def insertionSort(from: Int, until: Int): Unit = {
    var i = from + 1
    while (i < until) {
      val (long, handle) = (longs(i), handles(i))
      var j = i - 1
      while (j >= from && compare(longs(j), handles(j), long, handle) > 0) {
        longs(j + 1) = longs(j); handles(j + 1) = handles(j); j -= 1
      }
      longs(j + 1) = long
      handles(j + 1) = handle
      i += 1
    }
  }

  /** Sorts by the longs with Spark's radix sort, then each run of equal longs by the comparison. */
  private def radixSort(from: Int, until: Int): Unit = {
    val size = until - from
    val pairs = new Array[Long](size * 4) // (handle, long); half of it is the radix sort's buffer
    var i = 0
    while (i < size) {
      pairs(2 * i) = handles(from + i)
      pairs(2 * i + 1) = longs(from + i)
      i += 1
    }
    val sorted =
      RadixSort.sortKeyPrefixArray(new LongArray(MemoryBlock.fromLongArray(pairs)), 0, size, 0, 7, false, true)
    i = 0
    while (i < size) {
      handles(from + i) = pairs(sorted + 2 * i)
      longs(from + i) = pairs(sorted + 2 * i + 1)
      i += 1
    }
    if (ties != null) sortTies(from, until)
  }

  private def sortTies(from: Int, until: Int): Unit = {
    var start = from
    while (start < until) {
      var end = start + 1
      while (end < until && longs(end) == longs(start)) end += 1
      mergeSort(start, end)
      start = end
    }
  }
}

private[sparkjoinery] object RowSort {
  private val MostForInsertion = 16
  private val MostForMerge = 4096

  /** The most bytes per row that a sort takes beyond its arrays. */
  val ScratchPerRow = 32L

  /** Bytes that sorting a range of this length takes beyond the arrays. */
  def scratch(longest: Int): Long = if (longest > MostForMerge) longest * ScratchPerRow else 0

  /** Compares two rows by their handles. */
  trait HandleComparator { def compare(a: Long, b: Long): Int }

  /**
   * Compares rows whose handles are addresses.
   *
   * @param ordering
   *   null if rows with equal longs are equal
   */
  def byRows(pages: RowPages, ordering: Comparator[UnsafeRow], numFields: Int): HandleComparator =
    if (ordering == null) null
    else {
      val (a, b) = (new UnsafeRow(numFields), new UnsafeRow(numFields))
      (x, y) => if (x == y) 0 else ordering.compare(pages.read(x, a), pages.read(y, b))
    }
}
