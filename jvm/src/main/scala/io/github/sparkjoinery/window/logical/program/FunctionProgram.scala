package io.github.sparkjoinery.window.logical.program

import org.apache.spark.sql.catalyst.expressions._

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
