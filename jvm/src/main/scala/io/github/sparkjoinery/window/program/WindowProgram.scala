package io.github.sparkjoinery.window.program

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

/**
 * What a window computes, laid out for its tasks.
 *
 * @param columns
 *   longs and doubles over the child's output that frames and kernels need
 * @param peers
 *   the number of one column more, if there is one: it numbers rows with equal order values
 * @param frames
 *   each with its functions
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

/**
 * Two programs for one window, with the same frames.
 *
 * @param byColumns
 *   which has columns of a frame's rows in memory
 * @param byRows
 *   which reads the rows instead, by Spark's own expressions
 */
private[window] case class WindowPrograms(byColumns: WindowProgram, byRows: WindowProgram)

private[window] object WindowPrograms {
  def of(order: Seq[SortOrder], functions: Seq[WindowExpression]): WindowPrograms = WindowPrograms(
    new WindowCompiler(order).compile(functions),
    new WindowCompiler(order, keepsColumns = false).compile(functions))
}

/** @param overflow what the bounds of a row are computed by, to be asked where one has none because of an error */
private[window] case class FrameProgram(
    lower: Bound,
    upper: Bound,
    functions: Seq[FunctionProgram],
    overflow: Seq[Expression]) {
  def isGrowing: Boolean = lower == Bound.Unbounded && functions.exists(_.isInstanceOf[FunctionProgram.Growing])
  def isWhole: Boolean = isGrowing && upper == Bound.Unbounded
}

/** How a function is computed. `result` is its place among the results. */
private[window] sealed trait FunctionProgram extends Serializable { def result: Int }

private[window] object FunctionProgram {

  /** Inputs are columns. */
  case class Count(input: Int, result: Int) extends FunctionProgram

  /** @param overflow raises Spark's error, for a sum that does not fit; None: it wraps around */
  case class LongSum(input: Int, overflow: Option[Expression], result: Int) extends FunctionProgram
  case class LongAverage(input: Int, result: Int) extends FunctionProgram
  case class DoubleSum(input: Int, result: Int) extends FunctionProgram
  case class DoubleAverage(input: Int, result: Int) extends FunctionProgram
  case class Extreme(input: Int, isMax: Boolean, isDouble: Boolean, result: Int) extends FunctionProgram

  /** @param extreme true for rows because of which a frame is computed in Spark's order; None if there are none */
  case class Merged(function: FilteredFunction, extreme: Option[Expression], result: Int) extends FunctionProgram
  case class Growing(function: FilteredFunction, result: Int) extends FunctionProgram
  case class Offset(function: OffsetWindowFunction, result: Int) extends FunctionProgram
}
