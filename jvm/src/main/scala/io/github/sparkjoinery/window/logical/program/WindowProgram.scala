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

/**
 * Two programs for one window, with the same frames.
 *
 * @param byColumns
 *   keeps columns of a frame's rows in memory
 * @param byRows
 *   reads the rows instead, with Spark's own expressions
 */
private[window] case class WindowProgramPair(byColumns: WindowProgram, byRows: WindowProgram)

private[window] object WindowProgramPair {
  def group(order: Seq[SortOrder], functions: Seq[WindowExpression]): WindowProgramPair = WindowProgramPair(
    new WindowCompiler(order).compile(functions),
    new WindowCompiler(order, keepsColumns = false).compile(functions))
}

/**
 * @param overflow
 *   the expressions of the bounds. A row without a bound evaluates them again, to throw Spark's error.
 */
private[window] case class FrameProgram(
    lower: Bound,
    upper: Bound,
    functions: Seq[FunctionProgram],
    overflow: Seq[Expression])

/** The computation of one function. `result` is the function's index among the results. */
private[window] sealed trait FunctionProgram extends Serializable { def result: Int }

private[window] object FunctionProgram {

  /** Counts the values of a column. `input` is the number of the column, as in the classes below. */
  case class Count(input: Int, result: Int) extends FunctionProgram

  /** @param overflow the result for a sum that does not fit: NULL or an error; None if the sum wraps around */
  case class LongSum(input: Int, overflow: Option[Expression], result: Int) extends FunctionProgram
  case class LongAverage(input: Int, result: Int) extends FunctionProgram
  case class DoubleSum(input: Int, result: Int) extends FunctionProgram
  case class DoubleAverage(input: Int, result: Int) extends FunctionProgram
  case class Extreme(input: Int, isMax: Boolean, isDouble: Boolean, result: Int) extends FunctionProgram

  /** @param extreme true for rows that force a frame to be computed in Spark's order; None if no row does */
  case class Merged(function: FilteredFunction, extreme: Option[Expression], result: Int) extends FunctionProgram
  case class Growing(function: FilteredFunction, result: Int) extends FunctionProgram
  case class Offset(function: OffsetWindowFunction, result: Int) extends FunctionProgram
}
