package io.github.sparkjoinery.window.program

import org.apache.spark.sql.catalyst.expressions.{SortOrder, WindowExpression}

/**
 * The programs of a window on their way to its tasks, with what to make them anew of: a plan that runs again has the
 * RDD of its first run, and in it these programs, but its tasks may have other settings.
 *
 * @param settings
 *   that the programs are made under
 */
private[window] case class ShippedPrograms(
    order: Seq[SortOrder],
    functions: Seq[WindowExpression],
    settings: BoundSettings) {

  private val programs = settings.during(WindowPrograms.of(order, functions)) // once for all tasks, on the driver

  /** In a task. */
  def ofTask: WindowPrograms =
    if (BoundSettings.now == settings) programs else WindowPrograms.of(order, functions)
}
