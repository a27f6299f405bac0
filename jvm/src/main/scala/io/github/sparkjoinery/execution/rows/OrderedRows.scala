package io.github.sparkjoinery.execution.rows

import java.util.Comparator

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.util.collection.unsafe.sort.RadixSort

/**
 * Sorts ranges of two parallel arrays, times and row addresses, in place: by time, then by a comparator of the rows.
 *
 * @param ties
 *   comparator of rows with equal times; null if their order does not matter
 */
private[sparkjoinery] class OrderedRows(
    times: Array[Long],
    addresses: Array[Long],
    pages: RowPages,
    ties: Comparator[UnsafeRow],
    numFields: Int) {
  private val a = new UnsafeRow(numFields)
  private val b = new UnsafeRow(numFields)

  /** Sorts [from, until). Sorted input costs one comparison per row. */
  def sort(from: Int, until: Int): Unit = if (!isSorted(from, until)) {
    if (until - from > OrderedRows.LeastForRadix) radixSort(from, until) else quickSort(from, until - 1)
  }

  private def isSorted(from: Int, until: Int): Boolean = {
    var i = from + 1
    while (i < until && compare(i - 1, times(i), addresses(i)) <= 0) i += 1
    i >= until
  }

  private def compare(i: Int, time: Long, address: Long): Int = {
    val byTime = java.lang.Long.compare(times(i), time)
    if (byTime != 0 || ties == null || addresses(i) == address) byTime
    else ties.compare(pages.read(addresses(i), a), pages.read(address, b))
  }

  private def swap(i: Int, j: Int): Unit = {
    val time = times(i); times(i) = times(j); times(j) = time
    val address = addresses(i); addresses(i) = addresses(j); addresses(j) = address
  }

  /**
   * Three-way quicksort, fast with many equal times. It recurses into the smaller part only, so the stack stays small.
   */
  private def quickSort(first: Int, last: Int): Unit = {
    var low = first
    var high = last
    while (high - low > OrderedRows.LeastForQuick) {
      val middle = median(low, (low + high) >>> 1, high)
      val (time, address) = (times(middle), addresses(middle))
      var less = low
      var i = low
      var greater = high
      while (i <= greater) {
        val order = compare(i, time, address)
        if (order < 0) { swap(less, i); less += 1; i += 1 }
        else if (order > 0) { swap(i, greater); greater -= 1 }
        else i += 1
      }
      if (less - low < high - greater) { quickSort(low, less - 1); low = greater + 1 }
      else { quickSort(greater + 1, high); high = less - 1 }
    }
    insertionSort(low, high)
  }

  private def median(i: Int, j: Int, k: Int): Int =
    if (times(i) < times(j)) { if (times(j) < times(k)) j else if (times(i) < times(k)) k else i }
    else if (times(i) < times(k)) i
    else if (times(j) < times(k)) k
    else j

  private def insertionSort(first: Int, last: Int): Unit = {
    var i = first + 1
    while (i <= last) {
      val (time, address) = (times(i), addresses(i))
      var j = i - 1
      while (j >= first && compare(j, time, address) > 0) {
        times(j + 1) = times(j)
        addresses(j + 1) = addresses(j)
        j -= 1
      }
      times(j + 1) = time
      addresses(j + 1) = address
      i += 1
    }
  }

  /** Sorts by time with Spark's radix sort, then each run of equal times with the comparator. */
  private def radixSort(from: Int, until: Int): Unit = {
    val size = until - from
    val pairs = new Array[Long](size * 4) // (address, time); half of it is the radix sort's buffer
    var i = 0
    while (i < size) {
      pairs(2 * i) = addresses(from + i)
      pairs(2 * i + 1) = times(from + i)
      i += 1
    }
    val sorted =
      RadixSort.sortKeyPrefixArray(new LongArray(MemoryBlock.fromLongArray(pairs)), 0, size, 0, 7, false, true)
    i = 0
    while (i < size) {
      addresses(from + i) = pairs(sorted + 2 * i)
      times(from + i) = pairs(sorted + 2 * i + 1)
      i += 1
    }
    if (ties != null) {
      var start = from
      while (start < until) {
        var end = start + 1
        while (end < until && times(end) == times(start)) end += 1
        if (end - start > 1) quickSort(start, end - 1)
        start = end
      }
    }
  }
}

private[sparkjoinery] object OrderedRows {
  private val LeastForQuick = 16
  private val LeastForRadix = 4096

  val MostScratchPerRow = 32L

  /** Bytes that sorting a range of this length takes beyond the arrays. */
  def scratch(longest: Int): Long = if (longest > LeastForRadix) longest * MostScratchPerRow else 0
}
