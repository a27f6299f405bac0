package io.github.sparkjoinery.window.logical.program

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

/**
 * The computation of a window, prepared for its tasks.
 *
 * @param columns
 *   longs and doubles over the child's output that frames and kernels need
 * @param peers
 *   the number of an extra column that numbers rows with equal order values; None if no frame needs it
 * @param frames
 *   the frames with their functions
 * @param results
 *   the types of all functions' results
 */
private[window] case class WindowProgram(
    columns: Seq[Expression],
    peers: Option[Int],
    frames: Seq[FrameProgram],
    results: Seq[DataType]) {
  def width: Int = columns.length + peers.size
}
