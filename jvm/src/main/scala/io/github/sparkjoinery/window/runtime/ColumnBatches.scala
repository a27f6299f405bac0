package io.github.sparkjoinery.window.runtime

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.{ExecutionMemory, TaskBuildMemory}

import io.github.sparkjoinery.window.logical.program.{FrameProgram, WindowProgram}
import io.github.sparkjoinery.window.runtime.frames.{ColumnBounds, FrameBounds, FrameColumns, PeerNumbers}
import io.github.sparkjoinery.window.runtime.kernels.KernelFactory
import io.github.sparkjoinery.window.runtime.rows.{PartitionRows, RowCursor}

/** Batches over columns in memory. The columns hold the rows from the first one that a frame still needs. */
private[window] final class ColumnBatches(
    program: WindowProgram,
    order: Seq[SortOrder],
    output: Seq[Attribute],
    rows: PartitionRows)
  extends FrameBatches(program, output, rows) {
  import ColumnBatches._

  private val columns = new FrameColumns(program.width, TaskBuildMemory(), ExecutionMemory.shareOfTask / ShareOfColumns)
  private val columnsOf = if (program.columns.isEmpty) null else UnsafeProjection.create(program.columns, output)
  private val peers = program.peers.map(_ => new PeerNumbers(order, output)).orNull
  private var loading: RowCursor = _
  private var isComplete = false // all rows of the partition are loaded

  override protected lazy val kernelFactory: KernelFactory = new KernelFactory(
    output,
    program.results,
    columns,
    rows.cursor,
    FrameBatches.Rows)
  override protected def newBounds(frame: FrameProgram, raise: Int => Unit): FrameBounds =
    new ColumnBounds(frame.lower, frame.upper, columns, FrameBatches.Rows, raise)

  override def begin(start: Int): Unit = {
    super.begin(start)
    columns.clear()
    if (peers != null) peers.clear()
    loading = rows.cursor(0)
    isComplete = false
  }

  /** Gives the memory back, until the next partition if there is one. */
  def giveUp(): Unit = columns.free()

  override protected def find(): Boolean = {
    var loaded = true
    if (isSmall) findFrames(columns.loaded, isComplete)
    while (loaded && count == 0 && !isAtEnd) {
      forget()
      loaded = load()
      if (loaded) findFrames(columns.loaded, isComplete)
    }
    count > 0
  }

  /**
   * @return
   *   false if memory for more rows is missing, or a column of a row throws, which need not be an error of the query
   */
  private def load(): Boolean = {
    var more = if (isComplete) 0 else FrameBatches.Rows
    while (more > 0) {
      if (more % Prefetched == 0) loading.prefetch(Prefetched)
      val row = loading.next()
      if (row == null) { isComplete = true; more = 0 }
      else if (!columns.hasRoom) return false
      else {
        val of = if (columnsOf == null) null
        else
          try columnsOf(row)
          catch { case NonFatal(_) => return false }
        columns.add(of, if (peers == null) 0 else peers.numberOf(row))
        more -= 1
      }
    }
    true
  }

  private def forget(): Unit = {
    var needed = nextToFind
    var i = 0
    while (i < frames.length) { needed = math.min(needed, frames(i).bounds.firstNeeded); i += 1 }
    columns.forgetBefore(needed)
  }
}

private object ColumnBatches {
  private val Prefetched = 64
  private val ShareOfColumns = 3
}
