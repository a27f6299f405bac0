package io.github.sparkjoinery.window.logical.program

import org.apache.spark.sql.catalyst.expressions._

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
