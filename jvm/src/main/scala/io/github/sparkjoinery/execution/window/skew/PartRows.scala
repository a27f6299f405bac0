package io.github.sparkjoinery.execution.window.skew

import java.util

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.TaskBuildMemory

import io.github.sparkjoinery.execution.rows.{DriverBuildMemory, LongKeyIndex, TotalOrder}
import io.github.sparkjoinery.execution.window.{PartitionRows, WindowProgram}

/** The part of its partition that a task computes. @param parts of the partition */
private[window] case class Part(number: Int, parts: Int, hotKeys: Map[Long, KeyCuts])

/**
 * Of the rows of a whole partition, those that a part needs: of hot keys its own and the halo, of other keys all or none. What comes before
 * the halo is added up for functions over growing frames, and what comes behind it for those over whole partitions.
 *
 * Rows with equal order values are told apart by their bytes, so that all parts agree on one order of theirs.
 *
 * @param insert takes a row that is needed
 */
private[window] final class PartRows(
    part: Part, terms: SplitTerms, program: WindowProgram, output: Seq[Attribute], insert: UnsafeRow => Unit) {
  private val hashAndTimeOf = UnsafeProjection.create(Seq(terms.time.word, terms.hash), output)
  private val keyOf = if (terms.keys.isEmpty) null else UnsafeProjection.create(terms.keys, output)
  private val memory = TaskBuildMemory()
  private val hotKeys = new util.HashMap[UnsafeRow, HotKeyRows]()
  private val order = TotalOrder(terms.order, output)
  private val time = terms.time
  private val ranges = terms.bounds.nonEmpty
  private val cutsOfHash = new LongKeyIndex(new DriverBuildMemory(Long.MaxValue))
  private val cuts = part.hotKeys.toArray.map { case (hash, cuts) => cutsOfHash.add(hash); cuts }
  private var lastKey: UnsafeRow = _
  private var lastRows: HotKeyRows = _
  var haloRows = 0L

  def add(row: UnsafeRow): Unit = {
    val projected = hashAndTimeOf(row)
    val hash = projected.getLong(1)
    val hot = cutsOfHash.find(hash)
    if (hot < 0) {
      if (java.lang.Math.floorMod(hash, part.parts) == part.number) insert(row)
    } else {
      val (at, key) = (time.of(projected), cuts(hot))
      val place = key.partOf(at)
      if (place == part.number) insert(row)
      else if (place > part.number) {
        val after = of(row).after
        if (ranges && at <= key.tos(part.number)) insertHalo(row, after) else after.offer(row, at)
      } else if (part.number <= key.times.length) { // fewer cuts than parts: the last parts have no rows of this key
        val before = of(row).before
        if (ranges && at >= key.froms(part.number - 1)) insertHalo(row, before) else before.offer(row, at)
      }
    }
  }

  private def insertHalo(row: UnsafeRow, halo: HaloRows): Unit = {
    haloRows += 1
    halo.inserted += 1
    insert(row)
  }

  private def of(row: UnsafeRow): HotKeyRows = {
    val key = if (keyOf == null) PartRows.NoKey else keyOf(row)
    if (lastRows == null || key != lastKey) {
      lastRows = hotKeys.get(key)
      if (lastRows == null) {
        lastRows = new HotKeyRows
        hotKeys.put(key.copy(), lastRows)
      }
      lastKey = key.copy()
    }
    lastRows
  }

  /** After the last row: the halo is known. */
  def finish(): Unit = hotKeys.values.forEach { rows =>
    Seq(rows.before, rows.after).foreach(_.finish { row => haloRows += 1; insert(row) })
  }

  /** Whether rows of a partition are the part's own, not halo. */
  def owner(rows: PartitionRows): UnsafeRow => Boolean = {
    val first = rows.cursor(0).next()
    part.hotKeys.get(hashAndTimeOf(first).getLong(1)).fold[UnsafeRow => Boolean](_ => true) { cuts =>
      row => cuts.partOf(time.of(hashAndTimeOf(row))) == part.number
    }
  }

  /** Puts into a buffer of a frame's growing functions what the partition has beside its loaded rows. */
  def seed(frame: Int, rows: PartitionRows, buffer: InternalRow): Unit = {
    val first = rows.cursor(0).next()
    val known = hotKeys.get(if (keyOf == null) PartRows.NoKey else keyOf(first))
    if (known != null) known.carried.get(frame).foreach(_.into(buffer, first))
  }

  /** What one hot key has outside of the part. */
  private final class HotKeyRows {
    val carried: Map[Int, Carried] = program.frames.zipWithIndex.collect {
      case (frame, i) if frame.isGrowing => i -> new Carried(frame, terms, output, memory)
    }.toMap
    private def timeOf(row: UnsafeRow): Long = time.of(hashAndTimeOf(row))
    private val whole = carried.filter { case (i, _) => program.frames(i).isWhole }.values.toArray
    private val all = carried.values.toArray
    val before = new HaloRows(terms.rowsBefore, isLast = true, order, timeOf, memory, row => all.foreach(_.add(row)))
    val after = new HaloRows(terms.rowsAfter, isLast = false, order, timeOf, memory, row => whole.foreach(_.add(row)))
  }
}

private object PartRows {
  private val NoKey = UnsafeProjection.create(Array.empty[org.apache.spark.sql.types.DataType])(InternalRow.empty)
}

/**
 * The last rows before a part, or the first after it: so many that the frames of the part's rows may hold them.
 *
 * @param count  how many
 * @param passed gets the rows that are not among them
 */
private[skew] final class HaloRows(
    count: Int, isLast: Boolean, order: util.Comparator[UnsafeRow], timeOf: UnsafeRow => Long, memory: TaskBuildMemory,
    passed: UnsafeRow => Unit) {
  private val nearestFirst: util.Comparator[UnsafeRow] = if (isLast) order.reversed() else order
  private var rows = new Array[UnsafeRow](64)
  private var size = 0
  private var bytes = 0L
  private var farthestTime = 0L
  private var farthest: UnsafeRow = _ // of `count` rows that have been found; what is no nearer is not among them

  /** Rows of the halo that have gone in already, because RANGE frames hold them: all of them nearer than those offered. */
  var inserted = 0

  /** @param time of the row, as the first term orders it */
  def offer(row: UnsafeRow, time: Long): Unit =
    if (count == 0 || farthest != null && (isFarther(time) || nearestFirst.compare(row, farthest) >= 0)) passed(row)
    else {
      if (size == rows.length) rows = util.Arrays.copyOf(rows, size * 2)
      val kept = row.copy()
      rows(size) = kept
      size += 1
      bytes += kept.getSizeInBytes + HaloRows.Overhead
      if (bytes > memory.acquired && !memory.acquire(math.max(bytes - memory.acquired, 1L << 20))) throw HaloRows.noMemory(bytes)
      if (size >= count.toLong * 2 + 64) prune()
    }

  private def isFarther(time: Long): Boolean = if (isLast) time < farthestTime else time > farthestTime

  private def prune(): Unit = {
    util.Arrays.sort(rows, 0, size, nearestFirst)
    var i = count
    while (i < size) { bytes -= rows(i).getSizeInBytes + HaloRows.Overhead; passed(rows(i)); rows(i) = null; i += 1 }
    size = math.min(size, count)
    if (count > 0 && size == count) {
      farthest = rows(count - 1)
      farthestTime = timeOf(farthest)
    }
  }

  def finish(insert: UnsafeRow => Unit): Unit = {
    prune()
    val wanted = math.min(math.max(count - inserted, 0), size)
    var i = 0
    while (i < size) { if (i < wanted) insert(rows(i)) else passed(rows(i)); rows(i) = null; i += 1 }
    size = 0
  }
}

private[skew] object HaloRows {
  private val Overhead = 64 // of the objects, in bytes

  private def noMemory(bytes: Long) = new org.apache.spark.memory.SparkOutOfMemoryError("UNABLE_TO_ACQUIRE_MEMORY",
    util.Map.of("requestedBytes", bytes.toString, "receivedBytes", "0"))
}
