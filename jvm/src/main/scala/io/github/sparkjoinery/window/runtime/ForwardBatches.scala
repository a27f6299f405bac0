package io.github.sparkjoinery.window.runtime

import org.apache.spark.sql.catalyst.expressions._

import io.github.sparkjoinery.window.logical.program.{FrameProgram, WindowProgram}
import io.github.sparkjoinery.window.runtime.frames.{ForwardBounds, FrameBounds, StreamedFrameColumns}
import io.github.sparkjoinery.window.runtime.kernels.KernelFactory
import io.github.sparkjoinery.window.runtime.rows.PartitionRows

/** Batches without columns in memory. Both ends of each frame read the rows again. */
private[window] final class ForwardBatches(
    program: WindowProgram,
    order: Seq[SortOrder],
    output: Seq[Attribute],
    rows: PartitionRows)
  extends FrameBatches(program, output, rows) {

  private def columns(needed: Set[Int]): StreamedFrameColumns =
    new StreamedFrameColumns(program, needed, if (program.peers.isDefined) order else Nil, output, rows.cursor)

  override protected lazy val kernelFactory: KernelFactory = new KernelFactory(
    output,
    program.results,
    null,
    rows.cursor,
    FrameBatches.Rows)
  override protected def newBounds(frame: FrameProgram, raise: Int => Unit): FrameBounds =
    new ForwardBounds(
      frame.lower,
      frame.upper,
      () => rows.size,
      columns,
      FrameBatches.Rows,
      raise)

  override protected def find(): Boolean = {
    findFrames(rows.size, isComplete = true)
    count > 0
  }
}
