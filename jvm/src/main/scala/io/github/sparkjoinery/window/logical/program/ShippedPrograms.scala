package io.github.sparkjoinery.window.logical.program

import org.apache.spark.sql.catalyst.expressions.{SortOrder, WindowExpression}

/**
 * Sends the programs of a window to its tasks, with all that is needed to compile them again. A plan that runs again
 * uses the RDD and the programs of its first run, but its tasks may have other settings.
 *
 * @param settings
 *   the settings under which the programs are compiled
 */
private[window] case class ShippedPrograms(
    order: Seq[SortOrder],
    functions: Seq[WindowExpression],
    settings: BoundSettings) {

  private val programs = settings.during(WindowPrograms.group(order, functions)) // once for all tasks, on the driver

  /** Returns the programs of the current task. */
  def ofTask: WindowPrograms =
    if (BoundSettings.now == settings) programs else WindowPrograms.group(order, functions)
}
