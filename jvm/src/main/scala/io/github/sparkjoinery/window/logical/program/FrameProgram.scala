package io.github.sparkjoinery.window.logical.program

import org.apache.spark.sql.catalyst.expressions._

/**
 * @param overflow
 *   the expressions of the bounds. A row without a bound evaluates them again, to throw Spark's error.
 */
private[window] case class FrameProgram(
    lower: Bound,
    upper: Bound,
    functions: Seq[FunctionProgram],
    overflow: Seq[Expression])
