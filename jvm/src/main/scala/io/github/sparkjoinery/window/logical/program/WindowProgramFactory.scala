package io.github.sparkjoinery.window.logical.program

import org.apache.spark.sql.catalyst.expressions.{SortOrder, WindowExpression}

/**
 * Supplies the tasks of a window with its programs, and holds all that is needed to compile them again. A plan that
 * runs again uses the RDD and the programs of its first run, but its tasks may have other settings.
 *
 * @param settings
 *   the settings under which the programs are compiled
 */
private[window] case class WindowProgramFactory(
    order: Seq[SortOrder],
    functions: Seq[WindowExpression],
    settings: BoundSettings) {

  private val programs = settings.during(WindowProgramPair.group(order, functions)) // once for all tasks, on the driver

  /** Returns the programs of the current task. */
  def forTask: WindowProgramPair =
    if (BoundSettings.now == settings) programs else WindowProgramPair.group(order, functions)
}
