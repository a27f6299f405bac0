package io.github.sparkjoinery.window.parts

import java.util

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.{DriverBuildMemory, ExecutionMemory, SpillingSorts, TaskBuildMemory}

import io.github.sparkjoinery.execution.rows.{LongKeyIndex, TotalOrder}
import io.github.sparkjoinery.window.program.WindowProgram
import io.github.sparkjoinery.window.rows.PartitionRows

/**
 * What a task computes: of each hot key a part, of the other keys all or some.
 *
 * @param hot
 *   by the hash of [[SplitTerms]]
 * @param share
 *   of the other keys: which remainder of the hash, by which divisor; None: all that there are
 */
private[window] case class TaskParts(hot: Map[Long, KeyPart], share: Option[(Int, Int)])

/** @param number of the part between two cuts */
private[window] case class KeyPart(number: Int, cuts: KeyCuts)

/**
 * Of the rows that a task reads, those that it needs: of hot keys its own and the halo, of other keys all or none. What
 * comes before the halo is added up for functions over growing frames, and what comes behind it for those over whole
 * partitions.
 *
 * Rows with equal order values are told apart by their bytes, so that all parts agree on one order of theirs.
 *
 * @param sorts
 *   of the operator, in this task
 * @param insert
 *   takes a row that is needed
 */
private[window] final class PartRows(
    parts: TaskParts,
    terms: SplitTerms,
    program: WindowProgram,
    output: Seq[Attribute],
    sorts: SpillingSorts,
    insert: UnsafeRow => Unit) {
  private val hashAndTimeOf = UnsafeProjection.create(Seq(terms.time.word, terms.hash), output)
  private val keyOf = if (terms.keys.isEmpty) null else UnsafeProjection.create(terms.keys, output)
  private val memory = TaskBuildMemory()
  private val ofHalos = new HaloMemory(TaskBuildMemory(), ExecutionMemory.shareOfTask / 3)
  private var spilled: SpilledHalos = _ // halos that there is no memory for
  private val hotKeys = new util.HashMap[UnsafeRow, HotKeyRows]()
  private val order = TotalOrder(terms.order, output)
  private val time = terms.time
  private val ranges = terms.bounds.nonEmpty
  private val indexOfHash = new LongKeyIndex(new DriverBuildMemory(Long.MaxValue))
  private val hot = parts.hot.toArray.map { case (hash, part) => indexOfHash.add(hash); part }
  private var lastKey: UnsafeRow = _
  private var lastRows: HotKeyRows = _
  var haloRows = 0L

  def add(row: UnsafeRow): Unit = {
    val projected = hashAndTimeOf(row)
    val hash = projected.getLong(1)
    val index = indexOfHash.find(hash)
    if (index < 0) {
      if (parts.share.forall { case (remainder, divisor) => java.lang.Math.floorMod(hash, divisor) == remainder })
        insert(row)
    } else {
      val KeyPart(number, cuts) = hot(index)
      val at = time.of(projected)
      val place = cuts.partOf(at)
      if (place == number) insert(row)
      else if (place > number) {
        val after = of(row).after
        if (ranges && at <= cuts.tos(number)) insertHalo(row, after) else offer(row, at, after, isBefore = false)
      } else if (number <= cuts.times.length) { // fewer cuts than parts: the last parts have no rows of this key
        val before = of(row).before
        if (ranges && at >= cuts.froms(number - 1)) insertHalo(row, before) else offer(row, at, before, isBefore = true)
      }
    }
  }

  private def insertHalo(row: UnsafeRow, halo: HaloRows): Unit = {
    haloRows += 1
    halo.inserted += 1
    insert(row)
  }

  private def offer(row: UnsafeRow, time: Long, halo: HaloRows, isBefore: Boolean): Unit =
    if (spilled != null && halo.isTooFar(time)) halo.passed(row)
    else if (spilled != null || !halo.offer(row, time)) {
      if (spilled == null) spill()
      spilled.add(row, isBefore)
    }

  private def spill(): Unit = {
    val handover = ofHalos.handover()
    spilled = new SpilledHalos(terms, output, sorts)
    hotKeys.values.forEach { rows =>
      handover.gave(rows.before.drain(spilled.add(_, isBefore = true)))
      handover.gave(rows.after.drain(spilled.add(_, isBefore = false)))
    }
    handover.end()
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
  def finish(): Unit = {
    def take(row: UnsafeRow): Unit = { haloRows += 1; insert(row) }
    if (spilled == null) hotKeys.values.forEach(rows => Seq(rows.before, rows.after).foreach(_.finish(take)))
    else for (areBefore <- Seq(true, false); (_, row) <- spilled.rows(areBefore)) {
      val rows = of(row)
      if ((if (areBefore) rows.before else rows.after).takes(row)) take(row)
    }
    ofHalos.end()
  }

  /** Which rows of a partition are the part's own, not halo. */
  def ownRows(rows: PartitionRows): OwnRows = {
    val first = rows.cursor(0).next()
    val index = indexOfHash.find(hashAndTimeOf(first).getLong(1))
    val known = if (index < 0) null else hotKeys.get(keyOfPartition(first))
    if (known == null) OwnRows(0, rows.size)
    else OwnRows(known.before.inserted, rows.size - known.after.inserted)
  }

  private def keyOfPartition(row: UnsafeRow): UnsafeRow = if (keyOf == null) PartRows.NoKey else keyOf(row)

  /** Puts into a buffer of a frame's growing functions what the partition has beside its loaded rows. */
  def seed(frame: Int, rows: PartitionRows, buffer: InternalRow): Unit = {
    val first = rows.cursor(0).next()
    val known = hotKeys.get(keyOfPartition(first))
    if (known != null) known.carried.get(frame).foreach(_.into(buffer, first))
  }

  /** What one hot key has outside of the part. */
  private final class HotKeyRows {
    val carried: Map[Int, Carried] = program.frames.zipWithIndex.collect {
      case (frame, i) if frame.isGrowing => i -> new Carried(frame, terms, output, memory, sorts)
    }.toMap
    private val whole = carried.filter { case (i, _) => program.frames(i).isWhole }.values.toArray
    private val all = carried.values.toArray
    val before = new HaloRows(terms.rowsBefore, isLast = true, order, ofHalos, row => all.foreach(_.add(row)))
    val after = new HaloRows(terms.rowsAfter, isLast = false, order, ofHalos, row => whole.foreach(_.add(row)))
  }
}

private object PartRows {
  private val NoKey = UnsafeProjection.create(Array.empty[org.apache.spark.sql.types.DataType])(InternalRow.empty)
}

/**
 * In a partition, between the halo before and the halo behind.
 *
 * @param start
 *   number of the first
 * @param end
 *   number after the last
 */
private[window] case class OwnRows(start: Int, end: Int)
