package io.github.sparkjoinery.execution.window.skew

import java.util

import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.TaskBuildMemory

/**
 * Of the rows before a part those that come last, or of the rows after it those that come first: so many that frames of rows may hold them.
 *
 * @param count  how many
 * @param order  a total one, along the time first
 * @param passed gets the rows that are not among them
 */
private[skew] final class HaloRows(
    count: Int, isLast: Boolean, order: util.Comparator[UnsafeRow], memory: TaskBuildMemory, passed: UnsafeRow => Unit) {
  private var rows = HaloRows.NoRows // copied into again and again
  private var times = Array.emptyLongArray
  private var size = 0
  private var bytes = 0L
  private var acquired = 0L
  private var farthest = -1 // row among those kept: what is no nearer is not among the halo

  /** Rows of the halo that have gone in already, because RANGE frames hold them: all of them nearer than those offered. */
  var inserted = 0

  /** Whether a row of this time cannot be among them. */
  def isTooFar(time: Long): Boolean = count == 0 || farthest >= 0 && (if (isLast) time < times(farthest) else time > times(farthest))

  def offer(row: UnsafeRow, time: Long): Unit =
    if (isTooFar(time) || farthest >= 0 && time == times(farthest) && compare(row, time, farthest) >= 0) passed(row)
    else {
      if (size == rows.length) {
        val capacity = math.max(size * 2, 16)
        rows = util.Arrays.copyOf(rows, capacity)
        times = util.Arrays.copyOf(times, capacity)
      }
      if (rows(size) == null) {
        rows(size) = row.copy()
        bytes += row.getSizeInBytes + HaloRows.Overhead
      } else {
        bytes += row.getSizeInBytes - rows(size).getSizeInBytes
        rows(size).copyFrom(row)
      }
      times(size) = time
      size += 1
      if (bytes > acquired) acquire()
      if (size >= count.toLong * 2 + 64) prune()
    }

  private def acquire(): Unit = {
    val more = math.max(bytes - acquired, HaloRows.Step)
    if (!memory.acquire(more)) throw new SparkOutOfMemoryError("UNABLE_TO_ACQUIRE_MEMORY",
      util.Map.of("requestedBytes", more.toString, "receivedBytes", "0"))
    acquired += more
  }

  /** Nearest first. */
  private def compare(row: UnsafeRow, time: Long, to: Int): Int = {
    val compared = java.lang.Long.compare(time, times(to))
    val exact = if (compared != 0) compared else order.compare(row, rows(to))
    if (isLast) -exact else exact
  }

  private def prune(): Unit = if (size > count) {
    nearestToTheFront()
    var i = count
    while (i < size) { passed(rows(i)); i += 1 }
    size = count
    farthest = 0
    i = 1
    while (i < size) { if (compare(rows(i), times(i), farthest) > 0) farthest = i; i += 1 }
    swap(farthest, 0) // where it stays, as new ones come behind
    farthest = 0
  }

  /** Quickselect. */
  private def nearestToTheFront(): Unit = {
    var (from, until) = (0, size)
    while (until - from > 1) {
      swap((from + until) >>> 1, until - 1)
      val pivot = until - 1
      var (boundary, i) = (from, from)
      while (i < pivot) {
        if (compare(rows(i), times(i), pivot) < 0) { swap(i, boundary); boundary += 1 }
        i += 1
      }
      swap(boundary, pivot)
      if (boundary == count) return
      if (boundary < count) from = boundary + 1 else until = boundary
    }
  }

  private def swap(a: Int, b: Int): Unit = {
    val (row, time) = (rows(a), times(a))
    rows(a) = rows(b); times(a) = times(b)
    rows(b) = row; times(b) = time
  }

  /** All that are kept, after the last has been offered: nearest first. */
  def sorted(): Array[UnsafeRow] = {
    prune()
    val kept = util.Arrays.copyOf(rows, size)
    util.Arrays.sort(kept, if (isLast) order.reversed() else order)
    kept
  }

  /** After the last row. @param insert gets those that have not gone in already */
  def finish(insert: UnsafeRow => Unit): Unit = {
    val kept = sorted()
    val wanted = math.min(math.max(count - inserted, 0), kept.length)
    kept.indices.foreach(i => if (i < wanted) insert(kept(i)) else passed(kept(i)))
    inserted += wanted
    size = 0
  }
}

private object HaloRows {
  private val NoRows = Array.empty[UnsafeRow]
  val Overhead = 72 // of the objects, in bytes
  val Step = 1L << 20
}
