package io.github.sparkjoinery.window.parts

import java.util

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.BuildMemory

import io.github.sparkjoinery.window.rows.Handover

/**
 * Of the rows before a part those that come last, or of the rows after it those that come first: so many that frames of
 * rows may hold them.
 *
 * @param count
 *   how many
 * @param order
 *   a total one, along the time first
 * @param passed
 *   gets the rows that are not among them
 */
private[window] final class HaloRows(
    count: Int,
    isLast: Boolean,
    order: util.Comparator[UnsafeRow],
    memory: HaloMemory,
    val passed: UnsafeRow => Unit) {
  private var rows = HaloRows.NoRows // copied into again and again
  private var times = Array.emptyLongArray
  private var size = 0
  private var bytes = 0L
  private var farthest = -1 // row among those kept: what is no nearer is not among the halo
  private var mostTime = 0L // its time, known even when the rows are kept elsewhere
  private var isFull = false

  /**
   * Rows of the halo that have gone in already, because RANGE frames hold them: all of them nearer than those offered.
   */
  var inserted = 0

  /** Whether a row of this time cannot be among them. */
  def isTooFar(time: Long): Boolean = count == 0 || isFull && (if (isLast) time < mostTime else time > mostTime)

  /** @return false if there is no memory for the row, which is not taken then */
  def offer(row: UnsafeRow, time: Long): Boolean =
    if (isTooFar(time) || isFull && time == mostTime && compare(row, time, farthest) >= 0) {
      passed(row)
      true
    } else {
      val spare = if (size < rows.length) rows(size) else null
      val more = row.getSizeInBytes - (if (spare == null) -HaloRows.Overhead else spare.getSizeInBytes)
      memory.reserve(more) && {
        bytes += more
        keep(row, time)
        true
      }
    }

  private def keep(row: UnsafeRow, time: Long): Unit = {
    if (size == rows.length) {
      val capacity = math.max(size * 2, 16)
      rows = util.Arrays.copyOf(rows, capacity)
      times = util.Arrays.copyOf(times, capacity)
    }
    if (rows(size) == null) rows(size) = row.copy() else rows(size).copyFrom(row)
    times(size) = time
    size += 1
    if (size >= count.toLong * 2 + 64) prune()
  }

  /** Gives all that are kept out, to be kept elsewhere. @return the bytes that they took */
  def drain(to: UnsafeRow => Unit): Long = {
    prune()
    var i = 0
    while (i < size) { to(rows(i)); i += 1 }
    rows = HaloRows.NoRows
    times = Array.emptyLongArray
    size = 0
    val taken = bytes
    bytes = 0
    taken
  }

  /** Of rows that are kept elsewhere, in order, nearest first: whether the next goes in, and is not passed. */
  def takes(row: UnsafeRow): Boolean =
    if (inserted < count) { inserted += 1; true }
    else { passed(row); false }

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
    mostTime = times(0)
    isFull = true
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
    rows = HaloRows.NoRows
    times = Array.emptyLongArray
    size = 0
  }
}

private object HaloRows {
  private val NoRows = Array.empty[UnsafeRow]
  val Overhead = 104 // of the objects, in bytes
}

/**
 * What all halos of a task share: memory is asked for in steps, and there may be thousands of halos, most of them
 * small.
 *
 * @param limit
 *   bytes
 */
private[window] final class HaloMemory(memory: BuildMemory, limit: Long) {
  private var used = 0L

  def reserve(bytes: Long): Boolean = {
    val needed = used + bytes - memory.acquired
    val granted = needed <= 0 || used + bytes <= limit &&
      (memory.acquire(math.max(needed, math.min(used / 4, HaloMemory.MostStep))) || memory.acquire(needed))
    if (granted) used += bytes
    granted
  }

  /** No rows are held any more, nor will be. */
  def end(): Unit = memory.release(memory.acquired)

  /** All rows go elsewhere; nothing is granted any more. */
  def handover(): Handover = {
    used = Long.MaxValue / 2
    new Handover(memory)
  }
}

private object HaloMemory {
  private val MostStep = 1L << 20
}
