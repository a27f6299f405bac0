package io.github.sparkjoinery.execution.window

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.TaskBuildMemory

import io.github.sparkjoinery.execution.window.kernels._
import io.github.sparkjoinery.execution.window.skew.{OwnRows, PartRows}

/**
 * Computes partition after partition, a batch of rows at a time: loads rows as far as the batch's frames reach, finds the frames, has the
 * kernels compute them, and gives the batch out.
 *
 * @param part what the task computes of its partition; null: all
 */
private[window] final class PartitionFrames(
    program: WindowProgram, order: Seq[SortOrder], output: Seq[Attribute], rows: PartitionRows, part: PartRows) {
  import PartitionFrames._

  private val columns = new Columns(program.width, TaskBuildMemory())
  private val columnsOf = if (program.columns.isEmpty) null else UnsafeProjection.create(program.columns, output)
  private val peers = program.peers.map(_ => new PeerNumbers(order, output)).orNull
  private val kernels = new Kernels(output, program.results, columns, from => rows.cursor(from), Batch,
    if (part == null) null else part.seed(_, rows, _))
  private val frames = program.frames.toArray.zipWithIndex.map { case (frame, i) => new Frame(frame, i) }
  val results: ResultRow = new ResultRow(kernels.resultColumns)

  private var loading, giving: RowCursor = _
  private var isComplete = true // all rows of the partition are loaded
  private var first = 0 // of the batch
  private var count = 0
  private var taken = 0 // of the batch, by next()

  var row: UnsafeRow = _

  private var own: OwnRows = _

  def next(): Boolean = {
    do {
      while (taken == count) if (!nextBatch()) return false
      row = giving.next()
      taken += 1
    } while (own != null && !own.contains(row, first + taken - 1))
    results.moveTo(taken - 1)
    true
  }

  private def nextBatch(): Boolean = {
    first += count
    count = 0
    taken = 0
    if (isComplete && first == columns.loaded) {
      if (!rows.nextPartition()) return false
      if (part != null) own = part.ownRows(rows)
      columns.clear()
      frames.foreach(_.clear())
      if (peers != null) peers.clear()
      loading = rows.cursor(0)
      giving = rows.cursor(0)
      isComplete = false
      first = 0
    }
    while (count == 0 && !(isComplete && first == columns.loaded)) {
      load()
      findFrames()
    }
    var i = 0
    while (i < frames.length) { frames(i).compute(); i += 1 }
    forget()
    true
  }

  private def load(): Unit = {
    var more = if (isComplete) 0 else Batch
    while (more > 0) {
      if (more % Prefetched == 0) loading.prefetch(Prefetched)
      val row = loading.next()
      if (row == null) { isComplete = true; more = 0 }
      else {
        columns.add(if (columnsOf == null) null else columnsOf(row), if (peers == null) 0 else peers.of(row))
        more -= 1
      }
    }
  }

  private def findFrames(): Unit = {
    var found = true
    while (found && count < Batch && first + count < columns.loaded) {
      var i = 0
      while (found && i < frames.length) { found = frames(i).bounds.reach(first + count, isComplete); i += 1 }
      if (found) {
        i = 0
        while (i < frames.length) { frames(i).bounds.record(first + count, count); i += 1 }
        count += 1
      }
    }
  }

  private def forget(): Unit = {
    var needed = first + count
    var i = 0
    while (i < frames.length) { needed = math.min(needed, frames(i).bounds.firstNeeded); i += 1 }
    columns.forgetBefore(needed)
  }

  private final class Frame(frame: FrameProgram, number: Int) {
    private val computed = kernels.of(frame, number).toArray
    val bounds = new FrameBounds(frame.lower, frame.upper, columns, Batch, raise)

    def clear(): Unit = { bounds.clear(); computed.foreach(_.clear()) }

    def compute(): Unit = {
      var i = 0
      while (i < computed.length) { computed(i).compute(first, count, bounds.los, bounds.his); i += 1 }
    }

    /** A bound of this row could not be computed: Spark's error. */
    private def raise(of: Int): Unit = UnsafeProjection.create(frame.overflow, output)(rows.cursor(of).next())
  }
}

private object PartitionFrames {
  private val Batch = 1024
  private val Prefetched = 64
}

/** Numbers rows with equal order values. */
private final class PeerNumbers(order: Seq[SortOrder], output: Seq[Attribute]) {
  private val valuesOf = UnsafeProjection.create(order.map(_.child), output)
  private val ordering = RowOrdering.create(order.zipWithIndex.map { case (term, i) =>
    term.copy(child = BoundReference(i, term.dataType, term.nullable), sameOrderExpressions = Nil)
  }, Nil)
  private var last: UnsafeRow = _
  private var number = 0L

  def clear(): Unit = { last = null; number = 0 }

  def of(row: UnsafeRow): Long = {
    val values = valuesOf(row)
    if (last == null) last = values.copy()
    else if (values != last) {
      if (ordering.compare(values, last) != 0) number += 1
      last = values.copy()
    }
    number
  }
}
